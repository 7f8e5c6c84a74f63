#compdef gpuimg
# zsh completion for gpuimg; its tables are made from those of the stages, commands and options.

# @tables@

_gpuimg_devices() {
    local -a names=(auto cpu cuda cuda:all) nodes=(/dev/nvidia<->(N)) expl
    (( $#nodes == 0 )) || names+=(cuda:{0..$(( $#nodes - 1 ))})
    _wanted devices expl device compadd -a names
}

# PATTERN: files that match it, or, where reports are added up, those of JSON.
_gpuimg_inputs() {
    (( ! ${words[(I)--merge]} )) || 1='*.(#i)json(-.)'
    _files -g $1
}

# How a pipeline may go on, quoted or not.
_gpuimg_pipeline() {
    local -a open whole end
    compset -P '*\|'
    compset -P '[[:blank:]]##'
    if [[ $PREFIX != *[[:blank:]]* ]]; then
        # In quotes the pipeline may go on: an end of its own keeps zsh from closing them.
        [[ -z $QIPREFIX ]] || end=(-S '')
        _gpuimg_stages "$end[@]"
        return
    fi
    _gpuimg_words ${PREFIX%%[[:blank:]]*}
    compset -P '*[[:blank:]]'
    _describe -t settings setting open -S '' -- whole -S ''
}

_gpuimg() {
    local curcontext=$curcontext state ret=1
    local -a line
    _arguments -C \
        '(- *)'{-h,--help}'[help]' \
        '(- *)--version[the version]' \
        '1:command:_gpuimg_commands' \
        '*:: :->arguments' && ret=0
    if [[ $state == arguments ]]; then
        curcontext=${curcontext%:*:*}:gpuimg-$words[1]:
        (( $+functions[_gpuimg_of_$words[1]] )) && _gpuimg_of_$words[1] && ret=0
    fi
    return ret
}

_gpuimg "$@"
