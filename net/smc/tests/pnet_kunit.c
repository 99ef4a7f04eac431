// SPDX-License-Identifier: GPL-2.0
/*
 * PNET ids and the PNET table of a namespace, apart from devices. Each test
 * has two tables of its own, as of two namespaces.
 */
#include <kunit/test.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/string.h>

#include "../smc_net.h"
#include "../smc_pnet.h"

struct pnet_fixture {
	struct smc_net a;
	struct smc_net b;
};

static int pnet_test_init(struct kunit *test)
{
	struct pnet_fixture *fix;

	fix = kunit_kzalloc(test, sizeof(*fix), GFP_KERNEL);
	if (!fix)
		return -ENOMEM;
	smc_pnet_table_init(&fix->a);
	smc_pnet_table_init(&fix->b);
	test->priv = fix;
	return 0;
}

static void pnet_test_exit(struct kunit *test)
{
	struct pnet_fixture *fix = test->priv;

	if (!fix)
		return;
	smc_pnet_table_del(&fix->a, NULL, NULL);
	smc_pnet_table_del(&fix->b, NULL, NULL);
	mutex_destroy(&fix->a.pnet_lock);
	mutex_destroy(&fix->b.pnet_lock);
}

static void id_from(u8 id[SMC_PNETID_BYTES], const char *text)
{
	memset(id, ' ', SMC_PNETID_BYTES);
	memcpy(id, text, strlen(text));
}

/* either name may be NULL */
static int row_add(struct smc_net *sn, const char *id, const char *ndev,
		   int ifindex, const char *ibdev, u8 port)
{
	struct smc_pnet_entry e = {};
	unsigned int which = 0;
	int rc;

	id_from(e.pnetid, id);
	if (ndev) {
		strscpy(e.ndev, ndev);
		which |= SMC_PNET_ROW_ETH;
	}
	if (ibdev) {
		strscpy(e.ibdev, ibdev);
		e.ibport = port;
		which |= SMC_PNET_ROW_IB;
	}
	mutex_lock(&sn->pnet_lock);
	rc = smc_pnet_table_add(sn, &e, which, ifindex);
	mutex_unlock(&sn->pnet_lock);
	return rc;
}

static unsigned int row_del(struct smc_net *sn, const char *text)
{
	u8 id[SMC_PNETID_BYTES];

	id_from(id, text);
	return smc_pnet_table_del(sn, id, NULL);
}

/* id of an interface or RDMA port as text, "" if none */
static const char *ndev_id(struct smc_net *sn, int ifindex)
{
	static char text[SMC_PNETID_BYTES + 1];
	u8 id[SMC_PNETID_BYTES] = {};

	smc_pnet_table_netdev(sn, ifindex, id);
	smc_pnet_id_text(id, text);
	return text;
}

static const char *port_id(struct smc_net *sn, const char *name,
			   const char *parent, u8 port)
{
	static char text[SMC_PNETID_BYTES + 1];
	u8 id[SMC_PNETID_BYTES] = {};

	smc_pnet_table_ibport(sn, name, parent, port, id);
	smc_pnet_id_text(id, text);
	return text;
}

static const struct {
	const char *text;
	const char *id;		/* NULL: refused */
} pnet_syntax[] = {
	{ "NET1", "NET1" },
	{ "net1", "NET1" },
	{ "nEt1", "NET1" },
	{ "  NET1\t\n", "NET1" },
	{ "1", "1" },
	{ "ABCDEFGHIJKLMNOP", "ABCDEFGHIJKLMNOP" },
	{ " ABCDEFGHIJKLMNOP ", "ABCDEFGHIJKLMNOP" },
	{ "ABCDEFGHIJKLMNOPQ", NULL },
	{ "", NULL },
	{ "   ", NULL },
	{ "A B", NULL },
	{ "A-B", NULL },
	{ "A_B", NULL },
	{ "A.B", NULL },
	{ "\304B", NULL },
	{ "A\xe4", NULL },
	{ "A\x7f", NULL },
};

static void pnet_test_parse(struct kunit *test)
{
	u8 id[SMC_PNETID_BYTES], want[SMC_PNETID_BYTES];
	unsigned int i;
	int rc;

	for (i = 0; i < ARRAY_SIZE(pnet_syntax); i++) {
		rc = smc_pnet_parse_id(pnet_syntax[i].text,
				       strlen(pnet_syntax[i].text), id);
		KUNIT_EXPECT_EQ_MSG(test, rc, pnet_syntax[i].id ? 0 : -EINVAL,
				    "\"%s\"", pnet_syntax[i].text);
		if (rc || !pnet_syntax[i].id)
			continue;
		id_from(want, pnet_syntax[i].id);
		KUNIT_EXPECT_MEMEQ(test, id, want, SMC_PNETID_BYTES);
	}
	/* the length ends the text, or a NUL before */
	KUNIT_EXPECT_EQ(test, smc_pnet_parse_id("AB/", 2, id), 0);
	KUNIT_EXPECT_EQ(test, smc_pnet_parse_id("AB\0/", 4, id), 0);
	KUNIT_EXPECT_EQ(test, smc_pnet_parse_id("A", 0, id), -EINVAL);
}

static void pnet_test_text(struct kunit *test)
{
	char text[SMC_PNETID_BYTES + 1];
	u8 id[SMC_PNETID_BYTES];

	id_from(id, "NET1");
	smc_pnet_id_text(id, text);
	KUNIT_EXPECT_STREQ(test, text, "NET1");
	id[4] = 0;
	smc_pnet_id_text(id, text);
	KUNIT_EXPECT_STREQ(test, text, "NET1");
	id_from(id, "ABCDEFGHIJKLMNOP");
	smc_pnet_id_text(id, text);
	KUNIT_EXPECT_STREQ(test, text, "ABCDEFGHIJKLMNOP");
	memset(id, 0, sizeof(id));
	smc_pnet_id_text(id, text);
	KUNIT_EXPECT_STREQ(test, text, "");
}

static void pnet_test_equal(struct kunit *test)
{
	u8 a[SMC_PNETID_BYTES], b[SMC_PNETID_BYTES];

	id_from(a, "NET1");
	id_from(b, "NET1");
	KUNIT_EXPECT_TRUE(test, smc_pnet_equal(a, b));
	/* NUL and blank are the same end, what follows does not count */
	b[4] = 0;
	b[5] = 'X';
	KUNIT_EXPECT_TRUE(test, smc_pnet_equal(a, b));
	KUNIT_EXPECT_TRUE(test, smc_pnet_equal(b, a));
	id_from(b, "NET12");
	KUNIT_EXPECT_FALSE(test, smc_pnet_equal(a, b));
	KUNIT_EXPECT_FALSE(test, smc_pnet_equal(b, a));
	id_from(b, "net1");
	KUNIT_EXPECT_FALSE(test, smc_pnet_equal(a, b));
	id_from(a, "ABCDEFGHIJKLMNOP");
	id_from(b, "ABCDEFGHIJKLMNOP");
	KUNIT_EXPECT_TRUE(test, smc_pnet_equal(a, b));
	b[15] = 'X';
	KUNIT_EXPECT_FALSE(test, smc_pnet_equal(a, b));
}

static void pnet_test_add_get(struct kunit *test)
{
	struct pnet_fixture *fix = test->priv;
	u8 id[SMC_PNETID_BYTES];
	struct smc_pnet_entry e;

	KUNIT_EXPECT_FALSE(test, smc_pnet_table_get(&fix->a, NULL, 0, &e));
	/* both parts at once make two rows */
	KUNIT_EXPECT_EQ(test, row_add(&fix->a, "NETA", "eth0", 2, "mlx5_0", 1), 0);
	KUNIT_EXPECT_EQ(test, row_add(&fix->a, "NETB", "eth1", 0, NULL, 0), 0);

	KUNIT_ASSERT_TRUE(test, smc_pnet_table_get(&fix->a, NULL, 0, &e));
	KUNIT_EXPECT_STREQ(test, e.ndev, "eth0");
	KUNIT_EXPECT_STREQ(test, e.ibdev, "");
	KUNIT_EXPECT_EQ(test, e.ibport, 0);
	KUNIT_ASSERT_TRUE(test, smc_pnet_table_get(&fix->a, NULL, 1, &e));
	KUNIT_EXPECT_STREQ(test, e.ndev, "");
	KUNIT_EXPECT_STREQ(test, e.ibdev, "mlx5_0");
	KUNIT_EXPECT_EQ(test, e.ibport, 1);
	KUNIT_ASSERT_TRUE(test, smc_pnet_table_get(&fix->a, NULL, 2, &e));
	KUNIT_EXPECT_STREQ(test, e.ndev, "eth1");
	KUNIT_EXPECT_FALSE(test, smc_pnet_table_get(&fix->a, NULL, 3, &e));

	id_from(id, "NETB");
	KUNIT_ASSERT_TRUE(test, smc_pnet_table_get(&fix->a, id, 0, &e));
	KUNIT_EXPECT_STREQ(test, e.ndev, "eth1");
	KUNIT_EXPECT_FALSE(test, smc_pnet_table_get(&fix->a, id, 1, &e));
	id_from(id, "NETC");
	KUNIT_EXPECT_FALSE(test, smc_pnet_table_get(&fix->a, id, 0, &e));
}

static void pnet_test_dup(struct kunit *test)
{
	struct pnet_fixture *fix = test->priv;

	KUNIT_EXPECT_EQ(test, row_add(&fix->a, "NETA", "eth0", 2, NULL, 0), 0);
	/* one row per interface, whatever its id and name */
	KUNIT_EXPECT_EQ(test, row_add(&fix->a, "NETA", "eth0", 2, NULL, 0), -EEXIST);
	KUNIT_EXPECT_EQ(test, row_add(&fix->a, "NETB", "eth0", 2, NULL, 0), -EEXIST);
	KUNIT_EXPECT_EQ(test, row_add(&fix->a, "NETB", "other", 2, NULL, 0), -EEXIST);
	/* RDMA rows by name and port */
	KUNIT_EXPECT_EQ(test, row_add(&fix->a, "NETA", NULL, 0, "mlx5_0", 1), 0);
	KUNIT_EXPECT_EQ(test, row_add(&fix->a, "NETB", NULL, 0, "mlx5_0", 1), -EEXIST);
	KUNIT_EXPECT_EQ(test, row_add(&fix->a, "NETB", NULL, 0, "mlx5_0", 2), 0);
	/* a part that exists does not keep the other out */
	KUNIT_EXPECT_EQ(test, row_add(&fix->a, "NETA", "eth0", 2, "mlx5_1", 1), 0);
	KUNIT_EXPECT_EQ(test, row_add(&fix->a, "NETA", "eth1", 3, "mlx5_1", 1), 0);
	KUNIT_EXPECT_EQ(test, row_add(&fix->a, "NETA", "eth1", 3, "mlx5_1", 1), -EEXIST);
	/* an interface and an RDMA device may have one name */
	KUNIT_EXPECT_EQ(test, row_add(&fix->a, "NETA", "rxe0", 4, "rxe0", 1), 0);
}

static void pnet_test_del(struct kunit *test)
{
	struct pnet_fixture *fix = test->priv;
	u8 id[SMC_PNETID_BYTES];
	unsigned int which;

	KUNIT_EXPECT_EQ(test, row_del(&fix->a, "NETA"), 0);
	row_add(&fix->a, "NETA", "eth0", 2, "mlx5_0", 1);
	row_add(&fix->a, "NETA", "eth1", 3, NULL, 0);
	row_add(&fix->a, "NETB", "eth2", 4, NULL, 0);
	id_from(id, "NETA");
	KUNIT_EXPECT_EQ(test, smc_pnet_table_del(&fix->a, id, &which), 3);
	KUNIT_EXPECT_EQ(test, which, SMC_PNET_ROW_ETH | SMC_PNET_ROW_IB);
	KUNIT_EXPECT_EQ(test, row_del(&fix->a, "NETA"), 0);
	KUNIT_EXPECT_STREQ(test, ndev_id(&fix->a, 2), "");
	KUNIT_EXPECT_STREQ(test, port_id(&fix->a, "mlx5_0", NULL, 1), "");
	KUNIT_EXPECT_STREQ(test, ndev_id(&fix->a, 4), "NETB");
	/* the names are free again */
	KUNIT_EXPECT_EQ(test, row_add(&fix->a, "NETC", "eth0", 2, "mlx5_0", 1), 0);
	KUNIT_EXPECT_EQ(test, smc_pnet_table_del(&fix->a, NULL, &which), 3);
	KUNIT_EXPECT_EQ(test, smc_pnet_table_del(&fix->a, NULL, &which), 0);
	KUNIT_EXPECT_EQ(test, which, 0);
}

/* rows act in their own namespace only */
static void pnet_test_namespaces(struct kunit *test)
{
	struct pnet_fixture *fix = test->priv;
	struct smc_pnet_entry e;

	KUNIT_EXPECT_EQ(test, row_add(&fix->a, "NETA", "eth0", 2, NULL, 0), 0);
	KUNIT_EXPECT_STREQ(test, ndev_id(&fix->b, 2), "");
	KUNIT_EXPECT_EQ(test, row_add(&fix->b, "NETB", "eth0", 2, NULL, 0), 0);
	KUNIT_EXPECT_STREQ(test, ndev_id(&fix->a, 2), "NETA");
	KUNIT_EXPECT_STREQ(test, ndev_id(&fix->b, 2), "NETB");
	KUNIT_EXPECT_EQ(test, row_del(&fix->a, "NETB"), 0);
	KUNIT_EXPECT_EQ(test, smc_pnet_table_del(&fix->a, NULL, NULL), 1);
	KUNIT_EXPECT_FALSE(test, smc_pnet_table_get(&fix->a, NULL, 0, &e));
	KUNIT_EXPECT_TRUE(test, smc_pnet_table_get(&fix->b, NULL, 0, &e));
}

static void pnet_test_netdev(struct kunit *test)
{
	struct pnet_fixture *fix = test->priv;
	struct smc_pnet_entry e;

	/* a row may come before its interface */
	KUNIT_EXPECT_EQ(test, row_add(&fix->a, "NETA", "eth0", 0, NULL, 0), 0);
	KUNIT_EXPECT_STREQ(test, ndev_id(&fix->a, 2), "");
	smc_pnet_table_bind(&fix->a, 3, "eth1");
	KUNIT_EXPECT_STREQ(test, ndev_id(&fix->a, 3), "");
	smc_pnet_table_bind(&fix->a, 2, "eth0");
	KUNIT_EXPECT_STREQ(test, ndev_id(&fix->a, 2), "NETA");
	/* it follows a rename */
	smc_pnet_table_bind(&fix->a, 2, "lan0");
	KUNIT_EXPECT_STREQ(test, ndev_id(&fix->a, 2), "NETA");
	KUNIT_ASSERT_TRUE(test, smc_pnet_table_get(&fix->a, NULL, 0, &e));
	KUNIT_EXPECT_STREQ(test, e.ndev, "lan0");
	/* the old name is free */
	KUNIT_EXPECT_EQ(test, row_add(&fix->a, "NETB", "eth0", 0, NULL, 0), 0);
	/* it outlives the interface and waits for the name */
	smc_pnet_table_unbind(&fix->a, 2);
	KUNIT_EXPECT_STREQ(test, ndev_id(&fix->a, 2), "");
	smc_pnet_table_unbind(&fix->a, 2);
	smc_pnet_table_bind(&fix->a, 7, "lan0");
	KUNIT_EXPECT_STREQ(test, ndev_id(&fix->a, 7), "NETA");
	/* an unbound row is found under no index */
	smc_pnet_table_bind(&fix->a, 8, "eth0");
	KUNIT_EXPECT_STREQ(test, ndev_id(&fix->a, 8), "NETB");
	KUNIT_EXPECT_STREQ(test, ndev_id(&fix->a, 7), "NETA");
}

static void pnet_test_ibport(struct kunit *test)
{
	struct pnet_fixture *fix = test->priv;
	struct smc_net *sn = &fix->a;
	struct smc_pnet_entry e;

	KUNIT_EXPECT_EQ(test, row_add(sn, "NETA", NULL, 0, "mlx5_0", 1), 0);
	KUNIT_EXPECT_EQ(test, row_add(sn, "NETB", NULL, 0, "mlx5_0", 2), 0);
	KUNIT_EXPECT_EQ(test, row_add(sn, "NETC", NULL, 0, "0000:01:00.0", 1), 0);
	KUNIT_EXPECT_STREQ(test, port_id(sn, "mlx5_0", NULL, 1), "NETA");
	KUNIT_EXPECT_STREQ(test, port_id(sn, "mlx5_0", NULL, 2), "NETB");
	KUNIT_EXPECT_STREQ(test, port_id(sn, "mlx5_1", NULL, 1), "");
	KUNIT_EXPECT_STREQ(test, port_id(sn, "MLX5_0", NULL, 1), "");
	/* the parent's name does as well, the first row wins */
	KUNIT_EXPECT_STREQ(test, port_id(sn, "mlx5_1", "0000:01:00.0", 1), "NETC");
	KUNIT_EXPECT_STREQ(test, port_id(sn, "mlx5_1", "0000:01:00.0", 2), "");
	KUNIT_EXPECT_STREQ(test, port_id(sn, "mlx5_0", "0000:01:00.0", 1), "NETA");
	/* an interface row is none */
	KUNIT_EXPECT_EQ(test, row_add(sn, "NETD", "rxe0", 5, NULL, 0), 0);
	KUNIT_EXPECT_STREQ(test, port_id(sn, "", NULL, 0), "");
	KUNIT_EXPECT_STREQ(test, port_id(sn, "rxe0", NULL, 1), "");

	smc_pnet_table_ib_renamed(sn, "mlx5_0", "roce0");
	KUNIT_EXPECT_STREQ(test, port_id(sn, "mlx5_0", NULL, 1), "");
	KUNIT_EXPECT_STREQ(test, port_id(sn, "roce0", NULL, 1), "NETA");
	KUNIT_EXPECT_STREQ(test, port_id(sn, "roce0", NULL, 2), "NETB");
	KUNIT_ASSERT_TRUE(test, smc_pnet_table_get(sn, NULL, 0, &e));
	KUNIT_EXPECT_STREQ(test, e.ibdev, "roce0");
	KUNIT_EXPECT_EQ(test, row_del(sn, "NETA"), 1);
}

static struct kunit_case pnet_cases[] = {
	KUNIT_CASE(pnet_test_parse),
	KUNIT_CASE(pnet_test_text),
	KUNIT_CASE(pnet_test_equal),
	KUNIT_CASE(pnet_test_add_get),
	KUNIT_CASE(pnet_test_dup),
	KUNIT_CASE(pnet_test_del),
	KUNIT_CASE(pnet_test_namespaces),
	KUNIT_CASE(pnet_test_netdev),
	KUNIT_CASE(pnet_test_ibport),
	{}
};

static struct kunit_suite pnet_suite = {
	.name = "smc_pnet",
	.init = pnet_test_init,
	.exit = pnet_test_exit,
	.test_cases = pnet_cases,
};

kunit_test_suite(pnet_suite);

MODULE_DESCRIPTION("KUnit tests of SMC's PNET table");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS("EXPORTED_FOR_KUNIT_TESTING");
