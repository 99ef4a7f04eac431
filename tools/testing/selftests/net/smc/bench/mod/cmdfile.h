/* SPDX-License-Identifier: GPL-2.0 */
/* A file in /proc: each write is a command, a read shows the last result. */
#ifndef SMCBENCH_CMDFILE_H
#define SMCBENCH_CMDFILE_H

#include <linux/mutex.h>
#include <linux/proc_fs.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

static DEFINE_MUTEX(lock);	/* result and more, one command at a time */
static char result[512];

/* of the module; lock held; @line is changed */
static int command(char *line);

static ssize_t cmdfile_write(struct file *f, const char __user *buf, size_t len,
			     loff_t *pos)
{
	char *line;
	int rc;

	line = memdup_user_nul(buf, min_t(size_t, len, 500));
	if (IS_ERR(line))
		return PTR_ERR(line);
	mutex_lock(&lock);
	rc = command(line);
	mutex_unlock(&lock);
	kfree(line);
	return rc ?: len;
}

static ssize_t cmdfile_read(struct file *f, char __user *buf, size_t len,
			    loff_t *pos)
{
	ssize_t rc;

	mutex_lock(&lock);
	rc = simple_read_from_buffer(buf, len, pos, result, strlen(result));
	mutex_unlock(&lock);
	return rc;
}

static const struct proc_ops cmdfile_ops = {
	.proc_write = cmdfile_write,
	.proc_read = cmdfile_read,
	.proc_lseek = default_llseek,
};

#endif
