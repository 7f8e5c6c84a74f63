#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/console.h"
#include "cli/signals.h"
#include "gpuimg.h"
#include "run/output.h"

static int print_version(void) {
    printf("gpuimg %s\n", gpuimg_version());
    return 0;
}

static int run_command(const gi_command *command, char *const *argv) {
    gi_options options = {0};
    gi_error err = {0};
    gi_option_user user = {command->name, command->mask, command->stage};
    gi_status status = gi_options_parse(&user, argv, &options, &err);
    int exit_status = gi_exit_status(status);
    if (status) {
        gi_complain_error(&err, NULL);
        if (status == GI_ERR_USAGE) gi_suggest_help(command->name);
    } else if (options.help) {
        exit_status = options.brief ? gi_help_brief(command) : gi_help_show(command);
    } else if (options.version) {
        exit_status = print_version();
    } else {
        exit_status = command->run(command, &options);
    }
    gi_options_free(&options);
    return exit_status;
}

static int dispatch(char *const *argv) {
    const char *name = argv[0] ? argv[1] : NULL;
    gi_command command;
    if (!name) {
        gi_help_short();
        return gi_exit_status(GI_ERR_USAGE);
    }
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) return gi_help_overview();
    if (strcmp(name, "--version") == 0) return print_version();
    if (gi_command_find(name, &command)) return run_command(&command, argv + 2);
    gi_complain_unknown_command(name);
    return gi_exit_status(GI_ERR_USAGE);
}

// A file opened later must not get the number of a closed standard stream and receive its text. What takes the place of
// standard input and output works the wrong way round, so that data asked for there fails rather than vanishes.
static void open_standard_streams(void) {
    for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; descriptor++)
        if (fcntl(descriptor, F_GETFD) < 0 && errno == EBADF)
            (void)!open("/dev/null", descriptor == STDOUT_FILENO ? O_RDONLY : O_WRONLY);
}

int main(int argc, char **argv) {
    (void)argc;
    open_standard_streams();
    // The encoding of names and the terminal only: numbers stay those of the C locale.
    setlocale(LC_CTYPE, "");
    gi_signals_install();
    // The OpenMP runtime ends the process by exit() when it is short of memory or threads.
    (void)atexit(gi_output_remove_all);
    int status = dispatch(argv);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        if (!gi_reader_is_gone()) gi_complain("standard output: %s", strerror(errno));
        if (status == 0) status = 1;
    }
    return status;
}
