# fish completion for gpuimg; its tables are made from those of the stages, commands and options.

# HELP WORD...: offers each word with the help beside it.
function __gpuimg_say -a help
    for word in $argv[2..-1]
        printf '%s\t%s\n' $word $help
    end
end

# Whether the command is one of the arguments.
function __gpuimg_is
    set -l typed (commandline -opc)
    set -q typed[2]; and contains -- $typed[2] $argv
end

function __gpuimg_has_no_command
    test (count (commandline -opc)) -eq 1
end

# COMMAND: whether it is the command, and the word at the cursor the first one that is no option: the pipeline of run, the
# operation of reduce.
function __gpuimg_is_at_first -a command
    set -l typed (commandline -opc)
    set -l is_value 0
    test "$typed[2]" = $command; or return 1
    for word in $typed[3..-1]
        if test $is_value = 1
            set is_value 0
        else if contains -- $word (__gpuimg_options_with_values)
            set is_value 1
        else if not string match -q -- '-*' $word
            return 1
        end
    end
    test $is_value = 0
end

# Files with one of the extensions, and directories; where there are none, every file.
function __gpuimg_files
    # Reports that are added up, in the place of images.
    contains -- --merge (commandline -opc); and set argv json
    set -l pattern (string join -- '|' $argv)
    set -l all (complete -C "__gpuimg_files_alone "(commandline -ct))
    set -l found (string match -ri -- "^.*\.(?:$pattern)\$" $all)
    set -l directories (string match -r -- '^.*/$' $all)
    if set -q found[1]
        printf '%s\n' $found $directories
    else
        printf '%s\n' $all
    end
end

function __gpuimg_devices
    printf '%s\n' auto\t'the faster one for the job' cpu\t'all cores' cuda\t'the first GPU' cuda:all\t'all GPUs'
    set -l count 0
    for node in /dev/nvidia[0-9]*
        printf 'cuda:%d\tGPU %d\n' $count $count
        set count (math $count + 1)
    end
end

# How the pipeline at the cursor may go on: all of it, with each word that may come next.
function __gpuimg_pipeline
    set -l text (string replace -r -- '^[\'"]' '' (commandline -ct))
    set -l word (string replace -r -- '^.*[|\s]' '' "$text")
    set -l before (string sub -l (math (string length -- "$text") - (string length -- "$word")) -- "$text")
    set -l stage (string match -r -- '\S+' (string replace -r -- '^.*\|' '' "$before"))
    if set -q stage[1]
        printf '%s\n' "$before"(__gpuimg_words $stage[1])
    else
        printf '%s\n' "$before"(__gpuimg_stages)
    end
end

# @tables@
