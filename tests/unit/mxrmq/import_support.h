#pragma once
// A queue to import, and the target store.

#include <functional>
#include <memory>

#include "mxrmq/import.h"
#include "storage/open.h"
#include "support/temp_folder.h"
#include "unit/mxrmq/support.h"

namespace easyretry::mxrmq {

class AnImport : public QueueTest {
 protected:
  ImportReport imported(const ImportOptions& options = {}) { return run_import(url(), *store, options); }
  std::vector<task::TaskRecord> tasks() { return store->list({.name_space = "default"}).value(); }
  Message with(const std::string& id, const std::function<void(Meta&)>& change) {
    Message message = a_message(id);
    change(message.meta);
    return message;
  }

  const test::TempFolder folder;
  std::unique_ptr<storage::Store> store = storage::open_store(folder.sqlite_url(), system_clock());
};

}  // namespace easyretry::mxrmq
