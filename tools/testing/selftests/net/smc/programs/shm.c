// SPDX-License-Identifier: GPL-2.0
/*
 * Preload library: System V shared memory for PostgreSQL on the lab's kernel,
 * which has none. One segment, given on to children by fork.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>

static size_t segment;

int shmget(key_t key, size_t size, int flags)
{
	segment = size;
	return 1;
}

void *shmat(int id, const void *addr, int flags)
{
	return mmap(NULL, segment, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

int shmdt(const void *addr)
{
	return munmap((void *)addr, segment);
}

int shmctl(int id, int cmd, struct shmid_ds *buf)
{
	if (buf)
		memset(buf, 0, sizeof(*buf));
	return 0;
}
