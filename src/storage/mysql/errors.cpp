// The meaning of error numbers, and what to do about them.

#include <algorithm>
#include <string>

#include "storage/mysql/connection.h"

namespace easyretry::storage::mysql {
namespace {

using enum server::Trouble;

struct Meaning {
  unsigned code;
  server::Trouble trouble;
  std::string_view remedy;
};

constexpr std::string_view kGrant =
    "grant the rights: GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, INDEX, ALTER ON <database>.* TO <user>";
constexpr std::string_view kCredentials = "check the user and the password in the url";
constexpr std::string_view kReadOnly = "the server is read-only; connect to the primary, or make this one writable";
constexpr std::string_view kFull = "free space on the server's disk";
constexpr std::string_view kConnections = "raise max_connections, or use fewer connections";
constexpr std::string_view kPacket = "raise max_allowed_packet on the server, or store less with a task";
constexpr std::string_view kSchema =
    "the tables are not as this release created them; add what is missing, or rename the table to have it created anew";
constexpr std::string_view kHeld = "another transaction holds a row; look for one that stays open";
constexpr std::string_view kTls = "check ssl and ssl_ca in the url, and that the server has TLS";
constexpr std::string_view kSlow = "the statement took too long; look at what the server is busy with";

// Numbers from 2000 to 2999 belong to the client library. MariaDB and MySQL agree on numbers up to about 1860.
constexpr Meaning kMeanings[] = {
    {1020, again, ""},  // the row has changed since the snapshot: innodb_snapshot_isolation, on since MariaDB 11.6.2
    {1050, again, ""},  // another instance created the table at the same moment
    {1062, again, ""},  // another instance inserted the row at the same moment
    {1205, locked, kHeld},  // lock wait timeout; with NOWAIT, MariaDB gives this number, too
    {1213, again, ""},      // deadlock; from Galera, a conflict found at the commit
    {1412, again, ""},      // the table was altered
    {1613, again, ""},      // XA_RBTIMEOUT
    {1614, again, ""},      // XA_RBDEADLOCK
    {1615, again, ""},
    {3058, again, ""},      // deadlock of user locks
    {3101, again, ""},      // group replication: a conflict found at the commit
    {3572, locked, kHeld},  // NOWAIT

    // A Galera node that has lost the others refuses everything; a load balancer may give a new connection another
    // node.
    {1047, gone, "the node is not part of its cluster; connect to one that is"},
    {1053, gone, ""},  // shutdown in progress
    {1077, gone, ""},
    {1078, gone, ""},
    {1079, gone, ""},
    {1080, gone, ""},
    {1152, gone, ""},
    {1158, gone, ""},
    {1159, gone, ""},
    {1160, gone, ""},
    {1161, gone, ""},
    {1184, gone, ""},
    {1927, gone, ""},  // KILL
    {2002, gone, "check that the server is running and listening there"},
    {2003, gone, "check that the server is running and listening there"},
    {2005, gone, "check the host in the url"},
    {2006, gone, ""},
    {2012, gone, ""},
    {2013, gone, ""},
    {2014, gone, "read or free the result of the previous statement"},
    {2027, gone, ""},
    {2055, gone, ""},
    {3169, gone, ""},  // session was killed
    {4031, gone, ""},  // idle for longer than wait_timeout

    {1021, overloaded, kFull},
    {1037, overloaded, ""},
    {1038, overloaded, ""},
    {1040, overloaded, kConnections},
    {1041, overloaded, ""},
    {1114, overloaded, kFull},
    {1129, overloaded, "the server blocks this host after failed connections; FLUSH HOSTS"},
    {1203, overloaded, kConnections},
    {1206, overloaded, ""},
    {1226, overloaded, "raise the user's limits (GRANT … WITH MAX_…)"},
    {1290, overloaded, kReadOnly},
    {1317, overloaded, "the statement was interrupted"},
    {1637, overloaded, ""},
    {1792, overloaded, kReadOnly},
    {1836, overloaded, kReadOnly},
    {1874, overloaded, kReadOnly},
    {1969, overloaded, kSlow},
    {3024, overloaded, kSlow},
    {3098, overloaded, ""},

    {1044, refused, kGrant},
    {1045, refused, kCredentials},
    {1049, refused, "create it: CREATE DATABASE <database>"},
    {1054, refused, kSchema},
    {1064, refused, ""},
    {1071, refused, "the server's InnoDB allows only short keys; it needs innodb_page_size of 16k or more"},
    {1118, refused, "the server's InnoDB allows only short rows; it needs innodb_page_size of 16k or more"},
    {1130, refused, "allow this host to connect (CREATE USER …@'<host>')"},
    {1142, refused, kGrant},
    {1143, refused, kGrant},
    {1046, no_table, "choose one: USE <database>"},  // no database chosen, so no table
    {1146, no_table, kSchema},
    {1176, refused, kSchema},  // no such index
    {1193, refused, ""},
    {1227, refused, kGrant},
    {1251, refused, kCredentials},
    {1286, refused, "the server has no InnoDB"},
    {1370, refused, kGrant},
    {1524, refused, kCredentials},
    {1665, refused, "set binlog_format to MIXED or ROW: READ COMMITTED cannot be logged as statements"},
    {1698, refused, kCredentials},
    {1820, refused, "the password has expired"},
    {1862, refused, "the password has expired"},
    {2026, refused, kTls},
    {2054, refused, kCredentials},
    {2058, refused, kCredentials},
    {2059, refused, kCredentials},
    {3118, refused, "the account is locked"},
    {3159, refused, "the server requires TLS: ssl=on"},
    {4151, refused, "the account is locked"},

    {1048, bad_data, ""},
    {1153, bad_data, kPacket},
    {1162, bad_data, kPacket},
    {1264, bad_data, ""},
    {1292, bad_data, ""},
    {1300, bad_data, ""},
    {1301, bad_data, kPacket},
    {1366, bad_data, ""},
    {1406, bad_data, ""},
    {1690, bad_data, ""},
    {2020, bad_data, kPacket},
    {3140, bad_data, ""},
    {4025, bad_data, ""},
};

const Meaning* find(unsigned code) {
  const auto* found = std::ranges::find(kMeanings, code, &Meaning::code);
  return found == std::end(kMeanings) ? nullptr : found;
}

}  // namespace

server::Trouble trouble_of(unsigned code) {
  const Meaning* meaning = find(code);
  return meaning != nullptr ? meaning->trouble : overloaded;
}

server::ServerError server_error(unsigned code, std::string_view message) {
  std::string text{message};
  text.append(" (").append(std::to_string(code)).append(")");
  const Meaning* meaning = find(code);
  if (meaning != nullptr && !meaning->remedy.empty()) text.append(": ").append(meaning->remedy);
  return {trouble_of(code), text};
}

bool undoes_transaction(unsigned code) {
  constexpr unsigned kDeadlock = 1213;
  return code == kDeadlock;
}

bool is_read_only(unsigned code) {
  const Meaning* meaning = find(code);
  return meaning != nullptr && meaning->remedy == kReadOnly;
}

bool loses_connection(unsigned code) {
  constexpr unsigned kClientFirst = 2000;
  constexpr unsigned kClientLast = 2999;
  constexpr unsigned kTooLargeToSend = 2020;
  if (trouble_of(code) == gone) return true;
  return code >= kClientFirst && code <= kClientLast && code != kTooLargeToSend;
}

}  // namespace easyretry::storage::mysql
