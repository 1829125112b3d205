# Completes hlod and hloctl in bash: asks the program's own --help, so that it lists what that build has.

# Prints the options and subcommands that the help of a command names.
_hlod_words() {
  "$@" --help 2>/dev/null |
    sed -nE 's/^ +(-[^ ,]+,)?(--[a-z][a-z-]*).*/\2/p; /^Subcommands:/,/^$/s/^  ([a-z][a-z-]*)( .*|$)/\1/p'
}

_hlod() {
  local program=$1 current=${COMP_WORDS[COMP_CWORD]} word
  local command=("$program")
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case $word in
      -*) ;;
      *) "$program" "$word" --help >/dev/null 2>&1 && command+=("$word") && break ;;
    esac
  done
  mapfile -t COMPREPLY < <(compgen -W "$(_hlod_words "${command[@]}")" -- "$current")
  [[ $current == -* || ${#COMPREPLY[@]} -gt 0 ]] || mapfile -t COMPREPLY < <(compgen -f -- "$current")
}
complete -o filenames -F _hlod hlod hloctl
