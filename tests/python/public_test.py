"""Every public name of the package has a docstring, annotations, and, where a notebook shows it, a view."""

import dataclasses
import html.parser
import inspect
import json
import pathlib
import unittest

import hlod
from hlod import __main__ as command_line
from hlod import _html

DOT = """HloModule dot
ENTRY e {
  a = f32[64,32] parameter(0)
  b = f32[32,16] parameter(1)
  ROOT d = f32[64,16] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
"""


def functions():
    """Every public function, and every public method of the public classes, by name."""
    for name in hlod.__all__:
        value = getattr(hlod, name)
        if inspect.isfunction(value):
            yield name, value
        elif inspect.isclass(value):
            for part, method in vars(value).items():
                method = method.fget if isinstance(method, property) else method
                if inspect.isfunction(method) and (not part.startswith("_") or part in ("__init__", "_repr_html_")):
                    if method.__qualname__.startswith(value.__name__) and "<string>" not in method.__code__.co_filename:
                        yield f"{name}.{part}", method


class Public(unittest.TestCase):
    def test_every_name_is_documented(self):
        for name in hlod.__all__:
            text = vars(getattr(hlod, name)).get("__doc__") if inspect.isclass(getattr(hlod, name)) else getattr(hlod, name).__doc__
            self.assertTrue(text and not text.startswith(f"{name}("), f"hlod.{name} has no docstring")
        for name, function in functions():
            self.assertTrue(function.__doc__ or name.endswith("__init__"), f"hlod.{name} has no docstring")

    def test_every_name_is_annotated(self):
        for name, function in functions():
            signature = inspect.signature(function)
            self.assertIsNot(signature.return_annotation, inspect.Signature.empty, f"hlod.{name} does not say what it returns")
            for parameter in list(signature.parameters.values())[1 if "." in name else 0 :]:
                self.assertIsNot(parameter.annotation, inspect.Parameter.empty, f"{parameter.name} of hlod.{name} has no type")
        for name in hlod.__all__:
            if dataclasses.is_dataclass(getattr(hlod, name)):
                self.assertTrue(all(field.type for field in dataclasses.fields(getattr(hlod, name))))
        self.assertTrue((pathlib.Path(hlod.__file__).parent / "py.typed").exists(), "type checkers ignore a package without it")

    def test_a_report_has_a_view_and_json(self):
        report = hlod.check(DOT, target="h100", budget={"flops": 1}, raises=False)
        self.assertIs(json.loads(report.json)["passed"], False)
        view = report._repr_html_()
        self.assertIn("FAILED", view)
        self.assertIn("f32[64,32]", view)
        self.balanced(view)

    def test_views_escape_what_they_show(self):
        view = _html.section("<a>", True, _html.table(("<b>",), [("<c>",), (1234567,), (0.5,)]), _html.text("<d>\nx"))
        self.balanced(view)
        for tag in ("<a>", "<c>", "<d>"):
            self.assertNotIn(tag, view)
        self.assertIn("1,234,567", view)

    def balanced(self, view):
        """Asserts that every tag of a view is closed."""
        open_tags = []
        parser = html.parser.HTMLParser()
        parser.handle_starttag = lambda tag, attributes: open_tags.append(tag)
        parser.handle_endtag = lambda tag: self.assertEqual(open_tags.pop(), tag)
        parser.feed(view)
        self.assertEqual(open_tags, [])


class CommandLine(unittest.TestCase):
    def test_a_script_is_run_by_this_python(self):
        cases = {
            "check train.py --steps 3": "check -- PYTHON train.py --steps 3",
            "check --target h100 --steps 2 train.py a": "check --target h100 --steps 2 -- PYTHON train.py a",
            "--json check --budget b.toml -m package.train": "--json check --budget b.toml -- PYTHON -m package.train",
            "check module.hlo": "check module.hlo",
            "check -- ./program train.py": "check -- ./program train.py",
            "graphs run.profile": "graphs run.profile",
        }
        for given, wanted in cases.items():
            words = command_line.command(given.split())[1:]
            self.assertEqual(words, wanted.replace("PYTHON", command_line.sys.executable).split(), given)


if __name__ == "__main__":
    unittest.main()
