# bash completion for gpuimg; its tables are made from those of the stages, commands and options.
# shellcheck shell=bash disable=SC2034,SC2086,SC2154 # the tables speak through variables, and hold lists

# @tables@

# Sets `typed` to the words up to the cursor, whole: bash has split them at = and : too.
_gpuimg_split() {
    local line=${COMP_LINE:0:COMP_POINT} piece rest i
    typed=()
    for ((i = 0; i <= COMP_CWORD; i++)); do
        piece=${COMP_WORDS[i]}
        rest=${line#"${line%%[![:blank:]]*}"}
        [[ $rest == "$piece"* ]] || piece=$rest
        if ((i == 0)) || [[ $rest != "$line" ]]; then
            typed+=("$piece")
        else
            typed[${#typed[@]} - 1]+=$piece
        fi
        line=${rest#"$piece"}
    done
}

# PREFIX BEGIN WORD...: offers the words that begin so, behind the prefix.
_gpuimg_offer() {
    local prefix=$1 begin=$2 word
    shift 2
    for word; do
        [[ $word != "$begin"* ]] || COMPREPLY+=("$prefix$word")
    done
}

# PREFIX BEGIN EXTENSIONS: offers directories, and files with one of the extensions ("png|jpg"). Where there are none,
# bash offers every file.
_gpuimg_files() {
    local name extension
    while IFS= read -r name; do
        extension=${name##*.}
        if [[ -d ${name/#\~\//$HOME/} || ($name == *.* && "|$3|" == *"|${extension,,}|"*) ]]; then
            COMPREPLY+=("$1$name")
        fi
    done < <(compgen -f -- "${2//\\/}")
    compopt -o filenames
}

_gpuimg_devices() {
    local node count=0
    words='auto cpu cuda cuda:all'
    for node in /dev/nvidia[0-9]*; do
        [[ ! -e $node ]] || words+=" cuda:$((count++))"
    done
}

# COMMAND OPTION PREFIX BEGIN: offers values of the option.
_gpuimg_values() {
    local kind='' words=''
    _gpuimg_option "$1" "$2"
    case $kind in
    device) _gpuimg_devices ;;
    number) compopt +o default ;;
    report) _gpuimg_files "$3" "$4" "$_gpuimg_reports" ;;
    esac
    _gpuimg_offer "$3" "$4" $words
}

# TEXT: offers how a pipeline may go on.
_gpuimg_pipeline() {
    local word=${1##*[|[:blank:]]} last=${1##*|} stage='' keys='' key kind words
    local before=${1%"$word"}
    read -r stage _ <<<"${last%"$word"}"
    if [[ -z $stage ]]; then
        _gpuimg_offer "$before" "$word" $_gpuimg_stages
        return
    fi
    _gpuimg_keys "$stage"
    for key in $keys; do
        kind='' words=''
        _gpuimg_option "$stage" "--$key"
        # A bare word sets the first option. Of a number, N is a hint, and keeps readline from closing the quote.
        [[ $key != "${keys%% *}" ]] || _gpuimg_offer "$before" "$word" $words
        [[ $kind != number || $word == "$key="* ]] || _gpuimg_offer "$before" "$word" "$key=" "$key=N"
        _gpuimg_offer "$before" "$word" ${words:+$(printf "$key=%s " $words)}
    done
}

# The same inside quotes. Readline closes a quote behind the only candidate, although the pipeline may go on: a
# second one that begins alike keeps it open.
_gpuimg_quoted_pipeline() {
    _gpuimg_pipeline "$1"
    ((${#COMPREPLY[@]} != 1)) || COMPREPLY+=("${COMPREPLY[0]} |")
}

# Sets `place` to what the last of the words typed is: option, value (of the option `of`), pipeline or operand, of which
# there are `operands` then.
_gpuimg_place() {
    local i kind words literal=false
    for ((i = 2; i < ${#typed[@]}; i++)); do
        if [[ $place == option && -n $kind ]]; then
            place=value of=${typed[i - 1]}
        elif ! $literal && [[ ${typed[i]} == -* ]]; then
            place=option kind=''
            [[ ${typed[i]} != -- ]] || literal=true
            _gpuimg_option "${typed[1]}" "${typed[i]}"
        elif ((operands++ == 0)) && [[ ${typed[1]} == run ]]; then
            place=pipeline
        else
            place=operand
        fi
    done
}

_gpuimg_operand() {
    local first='' files=''
    _gpuimg_operands "${typed[1]}"
    # Reports that are added up, in the place of images.
    [[ " ${typed[*]:2} " != *' --merge '* ]] || files=json
    if [[ -n $first ]] && [[ $operands == 1 || -z $files ]]; then
        _gpuimg_offer '' "$1" $first
        return
    fi
    case ${typed[1]} in
    help) _gpuimg_offer '' "$1" $_gpuimg_commands $_gpuimg_topics ;;
    *) _gpuimg_files '' "${1#[\'\"]}" "$files" ;;
    esac
}

_gpuimg() {
    local typed=() place='' of='' operands=0 options='' current
    COMPREPLY=()
    _gpuimg_split
    current=${typed[${#typed[@]} - 1]}
    _gpuimg_place
    case $place in
    option)
        _gpuimg_options "${typed[1]}"
        if [[ $current == --*=* ]]; then
            _gpuimg_values "${typed[1]}" "${current%%=*}" "${current%%=*}=" "${current#*=}"
        else
            _gpuimg_offer '' "$current" $options
        fi
        ;;
    value) _gpuimg_values "${typed[1]}" "$of" '' "$current" ;;
    pipeline)
        case $current in
        [\'\"]*) _gpuimg_quoted_pipeline "${current:1}" ;;
        *) _gpuimg_pipeline "$current" ;;
        esac
        ;;
    operand) _gpuimg_operand "$current" ;;
    *) _gpuimg_offer '' "$current" $_gpuimg_commands --help --version ;;
    esac
    # What readline replaces begins behind the last = or :, not with the word.
    COMPREPLY=("${COMPREPLY[@]#"${current%"$2"}"}")
}

complete -F _gpuimg -o default gpuimg
