// SPDX-License-Identifier: GPL-2.0
/*
 * smcstat: what SMC does on this system, from sock_diag and the two netlink
 * families.
 *
 * Output is made of blank separated columns, one object a line, with a heading
 * unless -H is given.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/smc.h>
#include <linux/smc_diag.h>
#include <linux/sock_diag.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "reasons.h"

#ifndef AF_SMC
#define AF_SMC 43
#endif

static bool no_head, all;

static void die(const char *what)
{
	fprintf(stderr, "smcstat: %s: %s\n", what, strerror(errno));
	exit(1);
}

static const char *reason_text(unsigned int code)
{
	unsigned int i;

	for (i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (reasons[i].code == code)
			return reasons[i].text;
	return "unknown reason";
}

static const char *state_name(int state)
{
	static const struct {
		int state;
		const char *name;
	} names[] = {
		{ 1, "ACTIVE" }, { 2, "INIT" }, { 7, "CLOSED" },
		{ 10, "LISTEN" }, { 20, "PEERCLOSEWAIT1" },
		{ 21, "PEERCLOSEWAIT2" }, { 22, "APPCLOSEWAIT1" },
		{ 23, "APPCLOSEWAIT2" }, { 24, "APPFINCLOSEWAIT" },
		{ 25, "PEERFINCLOSEWAIT" }, { 26, "PEERABORTWAIT" },
		{ 27, "PROCESSABORT" },
	};
	unsigned int i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].state == state)
			return names[i].name;
	return "?";
}

/* one request; cb for each message of the answer. 0 or -errno */
static int talk(struct mnl_socket *nl, void *req, mnl_cb_t cb, void *arg)
{
	unsigned int portid = mnl_socket_get_portid(nl);
	struct nlmsghdr *nlh = req;
	unsigned int seq;
	char buf[65536];
	ssize_t n;
	int rc;

	nlh->nlmsg_seq = seq = time(NULL);
	if (mnl_socket_sendto(nl, nlh, nlh->nlmsg_len) < 0)
		return -errno;
	do {
		n = mnl_socket_recvfrom(nl, buf, sizeof(buf));
		if (n < 0)
			return -errno;
		rc = mnl_cb_run(buf, n, seq, portid, cb, arg);
	} while (rc > 0);
	return rc < 0 ? -errno : 0;
}

static struct mnl_socket *open_nl(int bus)
{
	struct mnl_socket *nl = mnl_socket_open(bus);
	int one = 1;

	if (!nl || mnl_socket_bind(nl, 0, MNL_SOCKET_AUTOPID) < 0)
		die("netlink");
	mnl_socket_setsockopt(nl, NETLINK_EXT_ACK, &one, sizeof(one));
	return nl;
}

/* sockets */

struct conn_attrs {
	const struct nlattr *tb[SMC_DIAG_MAX + 1];
};

static int conn_attr(const struct nlattr *attr, void *data)
{
	struct conn_attrs *a = data;

	if (mnl_attr_get_type(attr) <= SMC_DIAG_MAX)
		a->tb[mnl_attr_get_type(attr)] = attr;
	return MNL_CB_OK;
}

static void address(char *out, size_t room, const __be32 *addr, __be16 port)
{
	char text[INET6_ADDRSTRLEN];
	bool v6 = addr[1] || addr[2] || addr[3];

	inet_ntop(v6 ? AF_INET6 : AF_INET, addr, text, sizeof(text));
	snprintf(out, room, v6 ? "[%s]:%u" : "%s:%u", text, ntohs(port));
}

static int show_conn(const struct nlmsghdr *nlh, void *arg)
{
	static const char * const modes[] = { "SMC-R", "TCP", "SMC-D" };
	const struct smc_diag_msg *m = mnl_nlmsg_get_payload(nlh);
	const struct smc_diag_fallback *fb = NULL;
	const struct smc_diag_conninfo *ci = NULL;
	const struct smc_diag_lgrinfo *lg = NULL;
	struct conn_attrs a = { 0 };
	char local[64], peer[64];
	bool connected;

	mnl_attr_parse(nlh, sizeof(*m), conn_attr, &a);
	if (a.tb[SMC_DIAG_FALLBACK])
		fb = mnl_attr_get_payload(a.tb[SMC_DIAG_FALLBACK]);
	if (a.tb[SMC_DIAG_CONNINFO])
		ci = mnl_attr_get_payload(a.tb[SMC_DIAG_CONNINFO]);
	if (a.tb[SMC_DIAG_LGRINFO])
		lg = mnl_attr_get_payload(a.tb[SMC_DIAG_LGRINFO]);

	connected = m->diag_state != 2 && m->diag_state != 10 &&
		    m->diag_state != 7;
	if (!connected && !all)
		return MNL_CB_OK;
	address(local, sizeof(local), m->id.idiag_src, m->id.idiag_sport);
	address(peer, sizeof(peer), m->id.idiag_dst, m->id.idiag_dport);
	printf("%-16s %-24s %-24s %-6s", state_name(m->diag_state), local,
	       m->diag_state == 10 ? "*" : peer,
	       connected || m->diag_mode == 1 ? modes[m->diag_mode % 3] : "-");
	if (m->diag_mode == SMC_DIAG_MODE_FALLBACK_TCP && fb) {
		printf(" 0x%08x %s", fb->reason, reason_text(fb->reason));
		if (fb->peer_diagnosis)
			printf(" (peer: 0x%08x %s)", fb->peer_diagnosis,
			       reason_text(fb->peer_diagnosis));
	} else if (lg) {
		printf(" %s port %u link %u %s token %08x buffers %u/%u/%u",
		       lg->lnk[0].ibname, lg->lnk[0].ibport,
		       lg->lnk[0].link_id, lg->role ? "server" : "client",
		       ci ? ci->token : 0, ci ? ci->sndbuf_size : 0,
		       ci ? ci->rmbe_size : 0, ci ? ci->peer_rmbe_size : 0);
	}
	putchar('\n');
	return MNL_CB_OK;
}

static int cmd_conns(int argc, char **argv)
{
	char buf[512];
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct mnl_socket *nl = open_nl(NETLINK_SOCK_DIAG);
	struct smc_diag_req *req;
	int rc;

	nlh->nlmsg_type = SOCK_DIAG_BY_FAMILY;
	nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	req = mnl_nlmsg_put_extra_header(nlh, sizeof(*req));
	memset(req, 0, sizeof(*req));
	req->diag_family = AF_SMC;
	req->diag_ext = 1 << (SMC_DIAG_CONNINFO - 1) |
			1 << (SMC_DIAG_LGRINFO - 1);
	if (!no_head)
		printf("%-16s %-24s %-24s %-6s %s\n", "STATE", "LOCAL", "PEER",
		       "MODE", "LINK OR REASON");
	rc = talk(nl, nlh, show_conn, NULL);
	mnl_socket_close(nl);
	if (rc == -ENOENT) {
		fprintf(stderr, "smcstat: no SMC sockets on this kernel: is module smc_diag loaded?\n");
		return 1;
	}
	errno = -rc;
	if (rc)
		die("connections");
	return 0;
}

/* generic netlink */

struct family {
	const char *name;
	int id;
};

static int family_attr(const struct nlattr *attr, void *data)
{
	struct family *f = data;

	if (mnl_attr_get_type(attr) == CTRL_ATTR_FAMILY_ID)
		f->id = mnl_attr_get_u16(attr);
	return MNL_CB_OK;
}

static int family_cb(const struct nlmsghdr *nlh, void *data)
{
	mnl_attr_parse(nlh, sizeof(struct genlmsghdr), family_attr, data);
	return MNL_CB_OK;
}

static struct nlmsghdr *genl(char *buf, int type, int flags, int cmd)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct genlmsghdr *g;

	nlh->nlmsg_type = type;
	nlh->nlmsg_flags = NLM_F_REQUEST | flags;
	g = mnl_nlmsg_put_extra_header(nlh, sizeof(*g));
	g->cmd = cmd;
	g->version = 1;
	return nlh;
}

static struct mnl_socket *open_family(const char *name, int *id)
{
	struct mnl_socket *nl = open_nl(NETLINK_GENERIC);
	struct family f = { .name = name };
	struct nlmsghdr *nlh;
	char buf[256];
	int rc;

	nlh = genl(buf, GENL_ID_CTRL, NLM_F_ACK, CTRL_CMD_GETFAMILY);
	mnl_attr_put_strz(nlh, CTRL_ATTR_FAMILY_NAME, name);
	rc = talk(nl, nlh, family_cb, &f);
	if (rc || !f.id) {
		fprintf(stderr, "smcstat: the kernel does not know %s: is module smc loaded?\n",
			name);
		exit(1);
	}
	*id = f.id;
	return nl;
}

/* the text that the kernel gave with a refusal */
static char extack[256];

static int extack_cb(const struct nlattr *attr, void *data)
{
	if (mnl_attr_get_type(attr) == NLMSGERR_ATTR_MSG)
		snprintf(extack, sizeof(extack), "%s", mnl_attr_get_str(attr));
	return MNL_CB_OK;
}

static int do_request(struct mnl_socket *nl, struct nlmsghdr *nlh)
{
	const struct nlmsgerr *err;
	const struct nlmsghdr *in;
	char buf[8192];
	ssize_t n;

	nlh->nlmsg_flags |= NLM_F_ACK;
	if (mnl_socket_sendto(nl, nlh, nlh->nlmsg_len) < 0)
		die("netlink");
	n = mnl_socket_recvfrom(nl, buf, sizeof(buf));
	if (n < 0)
		die("netlink");
	in = (void *)buf;
	if (in->nlmsg_type != NLMSG_ERROR)
		return 0;
	err = mnl_nlmsg_get_payload(in);
	if (!err->error)
		return 0;
	extack[0] = 0;
	if (in->nlmsg_flags & NLM_F_ACK_TLVS) {
		unsigned int off = sizeof(*err);

		if (!(in->nlmsg_flags & NLM_F_CAPPED))
			off += err->msg.nlmsg_len - sizeof(err->msg);
		mnl_attr_parse(in, off, extack_cb, NULL);
	}
	fprintf(stderr, "smcstat: refused: %s%s%s\n", strerror(-err->error),
		extack[0] ? ": " : "", extack);
	return 1;
}

#define MAX_ATTR 32

struct attrs {
	const struct nlattr *tb[MAX_ATTR];
};

static int any_attr(const struct nlattr *attr, void *data)
{
	struct attrs *a = data;

	if (mnl_attr_get_type(attr) < MAX_ATTR)
		a->tb[mnl_attr_get_type(attr)] = attr;
	return MNL_CB_OK;
}

static void top(const struct nlmsghdr *nlh, struct attrs *a)
{
	memset(a, 0, sizeof(*a));
	mnl_attr_parse(nlh, sizeof(struct genlmsghdr), any_attr, a);
}

static void nest(const struct nlattr *attr, struct attrs *a)
{
	memset(a, 0, sizeof(*a));
	if (attr)
		mnl_attr_parse_nested(attr, any_attr, a);
}

static unsigned long long num(const struct attrs *a, int attr)
{
	const struct nlattr *at = a->tb[attr];

	if (!at)
		return 0;
	switch (mnl_attr_get_payload_len(at)) {
	case 1:
		return mnl_attr_get_u8(at);
	case 2:
		return mnl_attr_get_u16(at);
	case 4:
		return mnl_attr_get_u32(at);
	case 8:
		return mnl_attr_get_u64(at);
	}
	return 0;
}

static const char *str(const struct attrs *a, int attr)
{
	return a->tb[attr] ? mnl_attr_get_str(a->tb[attr]) : "";
}

static int show_group(const struct nlmsghdr *nlh, void *arg)
{
	static const char * const types[] = { "NONE", "SINGLE", "SYMMETRIC",
					      "ASYMMETRIC_PEER",
					      "ASYMMETRIC_LOCAL" };
	const struct genlmsghdr *g = mnl_nlmsg_get_payload(nlh);
	struct attrs a, n, v;

	top(nlh, &a);
	if (g->cmd == SMC_NETLINK_GET_LGR_SMCR) {
		nest(a.tb[SMC_GEN_LGR_SMCR], &n);
		nest(n.tb[SMC_NLA_LGR_R_V2_COMMON], &v);
		printf("group %08llx %s %s v%llu conns %llu pnetid %s sndbuf %llu rmb %llu",
		       num(&n, SMC_NLA_LGR_R_ID),
		       num(&n, SMC_NLA_LGR_R_ROLE) ? "server" : "client",
		       types[num(&n, SMC_NLA_LGR_R_TYPE) % 5],
		       n.tb[SMC_NLA_LGR_R_V2_COMMON] ?
		       num(&v, SMC_NLA_LGR_V2_VER) : 1,
		       num(&n, SMC_NLA_LGR_R_CONNS_NUM),
		       *str(&n, SMC_NLA_LGR_R_PNETID) ?
		       str(&n, SMC_NLA_LGR_R_PNETID) : "-",
		       num(&n, SMC_NLA_LGR_R_SNDBUF_ALLOC),
		       num(&n, SMC_NLA_LGR_R_RMB_ALLOC));
		if (n.tb[SMC_NLA_LGR_R_V2_COMMON])
			printf(" eid %.32s peer %.32s",
			       str(&v, SMC_NLA_LGR_V2_NEG_EID),
			       str(&v, SMC_NLA_LGR_V2_PEER_HOST));
		putchar('\n');
	} else {
		nest(a.tb[SMC_GEN_LINK_SMCR], &n);
		printf("  link %llu %s %s port %llu conns %llu gid %s peer %s uid %08x/%08x\n",
		       num(&n, SMC_NLA_LINK_ID),
		       num(&n, SMC_NLA_LINK_STATE) == 3 ? "ACTIVE" :
		       "ACTIVATING", str(&n, SMC_NLA_LINK_IB_DEV),
		       num(&n, SMC_NLA_LINK_IB_PORT),
		       num(&n, SMC_NLA_LINK_CONN_CNT),
		       str(&n, SMC_NLA_LINK_GID), str(&n, SMC_NLA_LINK_PEER_GID),
		       ntohl(num(&n, SMC_NLA_LINK_UID)),
		       ntohl(num(&n, SMC_NLA_LINK_PEER_UID)));
	}
	return MNL_CB_OK;
}

static int show_dev(const struct nlmsghdr *nlh, void *arg)
{
	struct attrs a, n, p;
	int i;

	top(nlh, &a);
	nest(a.tb[SMC_GEN_DEV_SMCR], &n);
	for (i = SMC_NLA_DEV_PORT; i <= SMC_NLA_DEV_PORT2; i++) {
		if (!n.tb[i])
			continue;
		nest(n.tb[i], &p);
		printf("%-16s port %d %-8s links %llu ifindex %llu pnetid %s%s\n",
		       str(&n, SMC_NLA_DEV_IB_NAME), i - SMC_NLA_DEV_PORT + 1,
		       num(&p, SMC_NLA_DEV_PORT_STATE) ? "ACTIVE" : "INACTIVE",
		       num(&p, SMC_NLA_DEV_PORT_LNK_CNT),
		       num(&p, SMC_NLA_DEV_PORT_NETDEV),
		       *str(&p, SMC_NLA_DEV_PORT_PNETID) ?
		       str(&p, SMC_NLA_DEV_PORT_PNETID) : "-",
		       num(&p, SMC_NLA_DEV_PORT_PNET_USR) ? " (user)" : "");
	}
	return MNL_CB_OK;
}

static int show_fback(const struct nlmsghdr *nlh, void *arg)
{
	struct attrs a, n;
	unsigned int code;

	top(nlh, &a);
	nest(a.tb[SMC_GEN_FBACK_STATS], &n);
	code = num(&n, SMC_NLA_FBACK_STATS_RSN_CODE);
	printf("%-7s %8llu 0x%08x %s\n",
	       num(&n, SMC_NLA_FBACK_STATS_TYPE) ? "server" : "client",
	       num(&n, SMC_NLA_FBACK_STATS_RSN_CNT), code, reason_text(code));
	return MNL_CB_OK;
}

static int show_ueid(const struct nlmsghdr *nlh, void *arg)
{
	struct attrs a;

	top(nlh, &a);
	printf("%s\n", str(&a, SMC_NLA_EID_TABLE_ENTRY));
	return MNL_CB_OK;
}

static int show_pnet(const struct nlmsghdr *nlh, void *arg)
{
	struct attrs a;

	top(nlh, &a);
	printf("%-16s %-15s %-15s %llu\n", str(&a, SMC_PNETID_NAME),
	       str(&a, SMC_PNETID_ETHNAME), str(&a, SMC_PNETID_IBNAME),
	       num(&a, SMC_PNETID_IBPORT));
	return MNL_CB_OK;
}

static int show_info(const struct nlmsghdr *nlh, void *arg)
{
	struct attrs a, n;

	top(nlh, &a);
	nest(a.tb[SMC_GEN_SYS_INFO], &n);
	printf("version %llu.%llu, SMC-R v2 %s, SMC-D v2 %s, host %s\n",
	       num(&n, SMC_NLA_SYS_VER), num(&n, SMC_NLA_SYS_REL),
	       num(&n, SMC_NLA_SYS_IS_SMCR_V2) ? "yes" : "no",
	       num(&n, SMC_NLA_SYS_IS_ISM_V2) ? "yes" : "no",
	       str(&n, SMC_NLA_SYS_LOCAL_HOST));
	return MNL_CB_OK;
}

static int dump(const char *family, int cmd, mnl_cb_t cb, const char *what)
{
	struct mnl_socket *nl;
	char buf[256];
	int id, rc;

	nl = open_family(family, &id);
	rc = talk(nl, genl(buf, id, NLM_F_DUMP, cmd), cb, NULL);
	mnl_socket_close(nl);
	errno = -rc;
	if (rc)
		die(what);
	return 0;
}

static int cmd_groups(int argc, char **argv)
{
	return dump(SMC_GENL_FAMILY_NAME, SMC_NETLINK_GET_LINK_SMCR, show_group,
		    "link groups");
}

static int cmd_devs(int argc, char **argv)
{
	return dump(SMC_GENL_FAMILY_NAME, SMC_NETLINK_GET_DEV_SMCR, show_dev,
		    "devices");
}

static int cmd_fallback(int argc, char **argv)
{
	return dump(SMC_GENL_FAMILY_NAME, SMC_NETLINK_GET_FBACK_STATS,
		    show_fback, "fallback reasons");
}

static int cmd_info(int argc, char **argv)
{
	return dump(SMC_GENL_FAMILY_NAME, SMC_NETLINK_GET_SYS_INFO, show_info,
		    "system information");
}

static int cmd_counters(int argc, char **argv)
{
	char name[64], rest[256];
	unsigned long long val;
	FILE *f;

	f = fopen("/proc/net/smc_stat", "r");
	if (!f)
		die("/proc/net/smc_stat");
	while (fscanf(f, "%63s %llu%255[^\n]", name, &val, rest) >= 2)
		if (strncmp(name, "FALLBACK_", 9) && (val || all))
			printf("%-20s %llu\n", name, val);
	fclose(f);
	return 0;
}

static int usage(FILE *out)
{
	fprintf(out,
		"Usage: smcstat [-a] [-H] [COMMAND]\n"
		"  conns                     SMC sockets: mode, link, or why TCP (default)\n"
		"  groups                    link groups and their links\n"
		"  devs                      RDMA devices and ports\n"
		"  fallback                  reasons of fallback and how often\n"
		"  counters                  protocol counters of this namespace\n"
		"  info                      version and host name\n"
		"  ueid [add|del EID|flush]  user EIDs\n"
		"  pnet [add ID [eth IF] [ib DEV [PORT]] | del ID | flush]\n"
		"  all                       conns, groups, devs, fallback\n"
		"Options: -a also idle sockets and zero counters, -H no headings\n");
	return out == stdout ? 0 : 1;
}

static int cmd_ueid(int argc, char **argv)
{
	struct nlmsghdr *nlh;
	struct mnl_socket *nl;
	char buf[256], eid[33];
	int id, cmd;

	if (argc < 1)
		return dump(SMC_GENL_FAMILY_NAME, SMC_NETLINK_DUMP_UEID,
			    show_ueid, "EIDs");
	if (!strcmp(argv[0], "flush") && argc == 1)
		cmd = SMC_NETLINK_FLUSH_UEID;
	else if (!strcmp(argv[0], "add") && argc == 2)
		cmd = SMC_NETLINK_ADD_UEID;
	else if (!strcmp(argv[0], "del") && argc == 2)
		cmd = SMC_NETLINK_REMOVE_UEID;
	else
		return usage(stderr);
	if (argc == 2 && strlen(argv[1]) > 32) {
		fprintf(stderr, "smcstat: an EID has at most 32 characters\n");
		return 1;
	}
	nl = open_family(SMC_GENL_FAMILY_NAME, &id);
	nlh = genl(buf, id, 0, cmd);
	if (argc == 2) {
		snprintf(eid, sizeof(eid), "%-32s", argv[1]);
		mnl_attr_put_strz(nlh, SMC_NLA_EID_TABLE_ENTRY, eid);
	}
	return do_request(nl, nlh);
}

static int cmd_pnet(int argc, char **argv)
{
	struct nlmsghdr *nlh;
	struct mnl_socket *nl;
	char buf[512];
	int id, i;

	if (argc < 1)
		return dump(SMCR_GENL_FAMILY_NAME, SMC_PNETID_GET, show_pnet,
			    "PNET table");
	nl = open_family(SMCR_GENL_FAMILY_NAME, &id);
	if (!strcmp(argv[0], "flush") && argc == 1)
		return do_request(nl, genl(buf, id, 0, SMC_PNETID_FLUSH));
	if (argc < 2)
		return usage(stderr);
	if (!strcmp(argv[0], "del") && argc == 2) {
		nlh = genl(buf, id, 0, SMC_PNETID_DEL);
		mnl_attr_put_strz(nlh, SMC_PNETID_NAME, argv[1]);
		return do_request(nl, nlh);
	}
	if (strcmp(argv[0], "add") || argc < 4)
		return usage(stderr);
	nlh = genl(buf, id, 0, SMC_PNETID_ADD);
	mnl_attr_put_strz(nlh, SMC_PNETID_NAME, argv[1]);
	for (i = 2; i + 1 < argc; i += 2) {
		if (!strcmp(argv[i], "eth")) {
			mnl_attr_put_strz(nlh, SMC_PNETID_ETHNAME, argv[i + 1]);
		} else if (!strcmp(argv[i], "ib")) {
			mnl_attr_put_strz(nlh, SMC_PNETID_IBNAME, argv[i + 1]);
			if (i + 2 < argc && isdigit((unsigned char)argv[i + 2][0])) {
				mnl_attr_put_u8(nlh, SMC_PNETID_IBPORT,
						atoi(argv[i + 2]));
				i++;
			}
		} else {
			return usage(stderr);
		}
	}
	if (i != argc)
		return usage(stderr);
	return do_request(nl, nlh);
}

static int cmd_all(int argc, char **argv)
{
	return cmd_conns(0, NULL) | cmd_groups(0, NULL) | cmd_devs(0, NULL) |
	       cmd_fallback(0, NULL);
}

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
} commands[] = {
	{ "conns", cmd_conns }, { "groups", cmd_groups }, { "devs", cmd_devs },
	{ "fallback", cmd_fallback }, { "counters", cmd_counters },
	{ "info", cmd_info }, { "ueid", cmd_ueid }, { "pnet", cmd_pnet },
	{ "all", cmd_all },
};

int main(int argc, char **argv)
{
	unsigned int i;
	int opt;

	while ((opt = getopt(argc, argv, "+aHh")) != -1) {
		switch (opt) {
		case 'a':
			all = true;
			break;
		case 'H':
			no_head = true;
			break;
		case 'h':
			return usage(stdout);
		default:
			return usage(stderr);
		}
	}
	if (optind == argc)
		return cmd_conns(0, NULL);
	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(commands[i].name, argv[optind]))
			return commands[i].run(argc - optind - 1,
					       argv + optind + 1);
	return usage(stderr);
}
