"""Registers the plugin with JAX as the entry point of an installed wheel does, for a package that is only on the path."""

from hlod.jax import initialize as initialize
