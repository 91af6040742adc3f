/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shows canvases and reads keys with ncurses. No other file uses ncurses. */
#include "view/screen/canvas.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

/* term.h defines macros such as "columns", so project headers must be included before term.h. */
#include "base/array.h"
#include "view/screen/screen.h"

#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <term.h>

/* Signals that terminate a process by default and for which the program has no other handler. */
static const int crashes[] = {
	SIGSEGV, SIGBUS,  SIGILL,  SIGFPE,  SIGABRT,   SIGQUIT, SIGTRAP, SIGSYS, SIGXCPU,
	SIGXFSZ, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGIO,	 SIGPWR,
};

#define NR_CRASHES (ARRAY_SIZE(crashes))

struct terminal {
	SCREEN *screen;
	FILE *out;
	bool color, utf8;
	struct sigaction old[NR_CRASHES];
};

/* Modes and escape sequences for the crash handler, because ncurses is not async-signal-safe. */
static struct {
	struct termios modes;
	char leave[128];
	size_t len;
} rescue;

bool terminal_usable(void)
{
	const char *name = getenv("TERM");

	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && name && *name &&
	       strcmp(name, "dumb") && strcmp(name, "unknown");
}

static void on_crash(int number)
{
	ssize_t written = write(STDOUT_FILENO, rescue.leave, rescue.len);

	(void)written;
	tcsetattr(STDIN_FILENO, TCSANOW, &rescue.modes);
	/* SA_RESETHAND restored the default action, which ends the process after the handler. */
	raise(number);
}

static void leave_add(const char *sequence)
{
	size_t len = sequence && sequence != (char *)-1 ? strlen(sequence) : 0;

	if (!len || rescue.len + len > sizeof(rescue.leave))
		return;
	memcpy(rescue.leave + rescue.len, sequence, len);
	rescue.len += len;
}

static void catch_crashes(struct terminal *terminal)
{
	struct sigaction action = {.sa_handler = on_crash, .sa_flags = SA_RESETHAND};

	rescue.len = 0;
	leave_add(exit_attribute_mode);
	leave_add(keypad_local);
	leave_add(cursor_normal);
	leave_add(exit_ca_mode);
	/* Do not replace signal handlers that are already installed, for example by a sanitizer. */
	for (size_t i = 0; i < NR_CRASHES; i++)
		if (!sigaction(crashes[i], NULL, &terminal->old[i]) &&
		    terminal->old[i].sa_handler == SIG_DFL)
			sigaction(crashes[i], &action, NULL);
}

static void start_colors(struct terminal *terminal)
{
	static const short colors[STYLE_NR] = {
		[STYLE_RED] = COLOR_RED,	 [STYLE_GREEN] = COLOR_GREEN,
		[STYLE_YELLOW] = COLOR_YELLOW,	 [STYLE_BLUE] = COLOR_BLUE,
		[STYLE_MAGENTA] = COLOR_MAGENTA, [STYLE_CYAN] = COLOR_CYAN,
		[STYLE_BRIGHT_RED] = COLOR_RED,	 [STYLE_BRIGHT_MAGENTA] = COLOR_MAGENTA,
		[STYLE_ALARM] = COLOR_RED,
	};

	if (!terminal->color || !has_colors() || start_color() == ERR) {
		terminal->color = false;
		return;
	}
	use_default_colors();
	/* ncurses shows a colour pair that was never set as black on black. */
	for (int i = 1; i < STYLE_NR; i++)
		init_pair(i, colors[i] ? colors[i] : -1, -1);
}

int terminal_open(bool color, struct terminal **ret_terminal, struct err *err)
{
	struct terminal *terminal = calloc(1, sizeof(*terminal));

	if (!terminal)
		return err_set(err, -ENOMEM, "out of memory");
	terminal->color = color;
	/* Only LC_CTYPE is set, because LC_NUMERIC could replace the decimal point in numbers. */
	setlocale(LC_CTYPE, "");
	terminal->utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
	tcgetattr(STDIN_FILENO, &rescue.modes);
	terminal->out = fdopen(dup(STDOUT_FILENO), "w");
	/* newterm() returns NULL for an unknown terminal; initscr() would exit the process. */
	terminal->screen = terminal->out ? newterm(NULL, terminal->out, stdin) : NULL;
	if (!terminal->screen) {
		if (terminal->out)
			fclose(terminal->out);
		free(terminal);
		return err_unsupported(err, -ENODEV,
				       "install the package ncurses-term, or set TERM",
				       "terminfo has no entry for TERM=%s", getenv("TERM"));
	}
	catch_crashes(terminal);
	start_colors(terminal);
	cbreak();
	noecho();
	nonl();
	curs_set(0);
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	/* An Escape byte without another byte within 50 ms is the Escape key, even over ssh. */
	set_escdelay(50);
	*ret_terminal = terminal;
	return 0;
}

void terminal_close(struct terminal *terminal)
{
	if (!terminal)
		return;
	endwin();
	for (size_t i = 0; i < NR_CRASHES; i++)
		sigaction(crashes[i], &terminal->old[i], NULL);
	delscreen(terminal->screen);
	fclose(terminal->out);
	free(terminal);
}

bool terminal_utf8(const struct terminal *terminal)
{
	return terminal->utf8;
}

void terminal_size(struct terminal *terminal, int *ret_rows, int *ret_cols)
{
	struct winsize size;

	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_row && size.ws_col &&
	    (size.ws_row != LINES || size.ws_col != COLS))
		resizeterm(size.ws_row, size.ws_col);
	*ret_rows = LINES;
	*ret_cols = COLS;
}

int terminal_key(struct terminal *terminal)
{
	static const int keys[][2] = {
		{KEY_UP, SCREEN_KEY_UP},	  {KEY_DOWN, SCREEN_KEY_DOWN},
		{KEY_LEFT, SCREEN_KEY_LEFT},	  {KEY_RIGHT, SCREEN_KEY_RIGHT},
		{KEY_PPAGE, SCREEN_KEY_PAGE_UP},  {KEY_NPAGE, SCREEN_KEY_PAGE_DOWN},
		{KEY_HOME, SCREEN_KEY_HOME},	  {KEY_END, SCREEN_KEY_END},
		{KEY_BTAB, SCREEN_KEY_BACK_TAB},  {KEY_BACKSPACE, SCREEN_KEY_BACKSPACE},
		{KEY_ENTER, '\n'},
	};
	wint_t key;
	int rc = get_wch(&key);

	if (rc == OK)
		return key;
	if (rc != KEY_CODE_YES)
		return SCREEN_KEY_NONE;
	array_for_each(pair, keys, ARRAY_SIZE(keys))
		if ((*pair)[0] == (int)key)
			return (*pair)[1];
	/* An unknown key needs an unused number: SCREEN_KEY_NONE means that no key is pending. */
	return SCREEN_KEY_BACKSPACE + 1;
}

static const attr_t style_attrs[STYLE_NR] = {
	[STYLE_BOLD] = A_BOLD,		 [STYLE_DIM] = A_DIM,
	[STYLE_BRIGHT_RED] = A_BOLD,	 [STYLE_BRIGHT_MAGENTA] = A_BOLD,
	[STYLE_REVERSE] = A_REVERSE,	 [STYLE_ALARM] = A_BOLD,
};

void terminal_paint(struct terminal *terminal, const struct canvas *canvas, bool again)
{
	erase();
	for (int row = 0; row < canvas->rows && row < LINES; row++)
		for (int col = 0; col < canvas->cols && col < COLS; col++) {
			const struct canvas_cell *cell =
				&canvas->cells[(size_t)row * canvas->cols + col];

			if (!cell->width || !cell->text[0])
				continue;
			attr_set(style_attrs[cell->style], terminal->color ? cell->style : 0, NULL);
			mvaddstr(row, col, cell->text);
		}
	attr_set(A_NORMAL, 0, NULL);
	if (again)
		clearok(stdscr, TRUE);
	refresh();
}
