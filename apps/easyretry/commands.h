#pragma once
// The commands of the program. Each function adds one command, with its options and subcommands, to `app`.

namespace CLI {
class App;
}

namespace easyretry::app {

void add_alert_command(CLI::App& app);
void add_bench_command(CLI::App& app);
void add_circuits_command(CLI::App& app);
void add_limits_command(CLI::App& app);
void add_cluster_command(CLI::App& app);
void add_completion_command(CLI::App& app);  // for the commands that `app` has when it runs
void add_config_command(CLI::App& app);
void add_doctor_command(CLI::App& app);
void add_errors_command(CLI::App& app);
void add_events_command(CLI::App& app);
void add_handlers_command(CLI::App& app);
void add_health_command(CLI::App& app);
void add_history_command(CLI::App& app);
void add_manual_command(CLI::App& app);  // for the commands that `app` has when it runs
void add_migrate_command(CLI::App& app);
void add_mxrmq_command(CLI::App& app);
void add_namespaces_command(CLI::App& app);
void add_reshard_command(CLI::App& app);
void add_series_command(CLI::App& app);
void add_serve_command(CLI::App& app);
void add_split_command(CLI::App& app);
void add_tables_command(CLI::App& app);
void add_tasks_command(CLI::App& app);
void add_token_command(CLI::App& app);
void add_version_command(CLI::App& app);
void add_whoami_command(CLI::App& app);

}  // namespace easyretry::app
