// SPDX-License-Identifier: GPL-2.0
/*
 * smc_run: run a program with its TCP sockets over SMC.
 *
 * Adds libsmc-preload.so to LD_PRELOAD and executes the command in its place:
 * arguments, exit status and signals are the program's own. Programs that the
 * dynamic loader does not preload for (static, setuid, file capabilities) run
 * over TCP, and a message says so.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#ifndef SMC_VERSION
#define SMC_VERSION "1.0"
#endif
#ifndef LIBDIR
#define LIBDIR "/usr/local/lib"
#endif
#define LIBNAME "libsmc-preload.so"

static void usage(FILE *out)
{
	fprintf(out,
		"Usage: smc_run [-d] [-r SIZE] [-t SIZE] COMMAND [ARG ...]\n"
		"Run COMMAND with its TCP sockets over SMC.\n\n"
		"  -d        messages of the preload library on stderr\n"
		"  -r SIZE   receive buffer, bytes, k or m as suffix\n"
		"  -t SIZE   send buffer\n"
		"  -v        version\n"
		"  -h        this text\n");
}

/* bytes, or -1 */
static long long parse_size(const char *text)
{
	long long val;
	char *end;

	if (!isdigit((unsigned char)*text))
		return -1;
	val = strtoll(text, &end, 10);
	if (*end == 'k' || *end == 'K') {
		val *= 1024;
		end++;
	} else if (*end == 'm' || *end == 'M') {
		val *= 1024 * 1024;
		end++;
	}
	return *end || val <= 0 || val > 0x3fffffff ? -1 : val;
}

/* the kernel cuts SO_SNDBUF and SO_RCVBUF to this limit */
static void raise_limit(const char *path, long long val)
{
	long long now = 0;
	FILE *f;

	f = fopen(path, "r");
	if (f) {
		if (fscanf(f, "%lld", &now) != 1)
			now = 0;
		fclose(f);
	}
	if (now >= val)
		return;
	f = fopen(path, "w");
	if (!f || fprintf(f, "%lld\n", val) < 0 || fclose(f))
		fprintf(stderr, "smc_run: %s stays at %lld: %s\n", path, now,
			strerror(errno));
}

static void set_buffer(const char *env, const char *limit, const char *text)
{
	long long val = parse_size(text);

	if (val < 0) {
		fprintf(stderr, "smc_run: '%s' is no buffer size\n", text);
		exit(1);
	}
	setenv(env, text, 1);
	raise_limit(limit, val);
}

/* beside smc_run itself, else where it was installed */
static void find_library(char path[PATH_MAX])
{
	ssize_t len = readlink("/proc/self/exe", path, PATH_MAX - 64);
	char *slash;

	if (len > 0) {
		path[len] = 0;
		slash = strrchr(path, '/');
		strcpy(slash + 1, LIBNAME);
		if (!access(path, R_OK))
			return;
	}
	snprintf(path, PATH_MAX, "%s/%s", LIBDIR, LIBNAME);
	if (access(path, R_OK)) {
		fprintf(stderr, "smc_run: %s not found\n", path);
		exit(1);
	}
}

static void add_preload(const char *lib)
{
	const char *old = getenv("LD_PRELOAD");
	char *val;

	if (lib[strcspn(lib, " :")])
		fprintf(stderr,
			"smc_run: a blank or colon in '%s', the program runs over TCP\n",
			lib);
	if (!old || !*old) {
		setenv("LD_PRELOAD", lib, 1);
		return;
	}
	if (asprintf(&val, "%s:%s", old, lib) < 0)
		exit(1);
	setenv("LD_PRELOAD", val, 1);
	free(val);
}

/* first bytes of a file; how many, -1 if it cannot be read */
static ssize_t file_head(const char *path, void *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len;

	if (fd < 0)
		return -1;
	len = pread(fd, buf, size, 0);
	close(fd);
	return len;
}

/* a 64 bit program that the kernel starts without the dynamic loader */
static bool is_static(const char *head, size_t len)
{
	Elf64_Ehdr eh;
	Elf64_Phdr ph;
	int i;

	if (len < sizeof(eh) || memcmp(head, ELFMAG, SELFMAG) ||
	    head[EI_CLASS] != ELFCLASS64)
		return false;
	memcpy(&eh, head, sizeof(eh));
	for (i = 0; i < eh.e_phnum; i++) {
		size_t off = eh.e_phoff + (size_t)i * eh.e_phentsize;

		if (off > len || len - off < sizeof(ph))
			return false;
		memcpy(&ph, head + off, sizeof(ph));
		if (ph.p_type == PT_INTERP)
			return false;
	}
	return true;
}

/* the loader leaves preload libraries out when the program gets rights */
static bool gains_rights(const char *path, const struct stat *st)
{
	if ((st->st_mode & S_ISUID) && st->st_uid != getuid())
		return true;
	if ((st->st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) &&
	    st->st_gid != getgid())
		return true;
	return getuid() && getxattr(path, "security.capability", NULL, 0) > 0;
}

static void check_program(const char *path, bool script)
{
	char head[4096];
	struct stat st;
	ssize_t len;

	if (stat(path, &st))
		return;
	if (gains_rights(path, &st) && !script) {
		fprintf(stderr, "smc_run: %s is setuid or has capabilities, it runs over TCP\n",
			path);
		return;
	}
	len = file_head(path, head, sizeof(head) - 1);
	if (len <= 0)
		return;
	head[len] = 0;
	if (is_static(head, len)) {
		fprintf(stderr, "smc_run: %s is static, it runs over TCP\n",
			path);
	} else if (!strncmp(head, "#!", 2) && !script) {
		char *interp = head + 2 + strspn(head + 2, " \t");

		interp[strcspn(interp, " \t\n")] = 0;
		check_program(interp, true);
	}
}

static bool runs(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

/* the file that execvp() will take */
static void check_command(const char *cmd)
{
	const char *dir = getenv("PATH"), *end;
	char path[PATH_MAX];

	if (strchr(cmd, '/')) {
		check_program(cmd, false);
		return;
	}
	if (!dir)
		dir = "/bin:/usr/bin";
	for (;; dir = end + 1) {
		end = strchrnul(dir, ':');
		snprintf(path, sizeof(path), "%.*s%s%s", (int)(end - dir), dir,
			 end > dir ? "/" : "", cmd);
		if (runs(path)) {
			check_program(path, false);
			return;
		}
		if (!*end)
			return;
	}
}

int main(int argc, char **argv)
{
	char lib[PATH_MAX];
	int opt, err;

	while ((opt = getopt(argc, argv, "+dr:t:vh")) != -1) {
		switch (opt) {
		case 'd':
			setenv("SMC_DEBUG", "1", 1);
			break;
		case 'r':
			set_buffer("SMC_RCVBUF", "/proc/sys/net/core/rmem_max",
				   optarg);
			break;
		case 't':
			set_buffer("SMC_SNDBUF", "/proc/sys/net/core/wmem_max",
				   optarg);
			break;
		case 'v':
			printf("smc_run %s\n", SMC_VERSION);
			return 0;
		case 'h':
			usage(stdout);
			return 0;
		default:
			usage(stderr);
			return 1;
		}
	}
	if (optind >= argc) {
		usage(stderr);
		return 1;
	}
	find_library(lib);
	check_command(argv[optind]);
	add_preload(lib);
	execvp(argv[optind], argv + optind);
	err = errno;
	fprintf(stderr, "smc_run: %s: %s\n", argv[optind], strerror(err));
	return err == ENOENT ? 127 : 126;
}
