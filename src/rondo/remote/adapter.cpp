#include "remote/adapter.h"

#include <utility>

#include "remote/adapter_run.h"

namespace rondo::remote {
namespace {

class Running final : public engine::Submission {
 public:
  explicit Running(std::shared_ptr<AdapterRun> run) : run_(std::move(run)) {}
  ~Running() override { run_->abandon(); }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  void cancel() override { run_->cancel(); }

 private:
  std::shared_ptr<AdapterRun> run_;
};

}  // namespace

Adapter::Adapter(net::Loop& loop, net::Client& client, ServerInfo info)
    : loop_(loop),
      client_(client),
      capabilities_(capabilities_of(info)),
      id_prefix_("rondo-" + std::to_string(loop.now().time_since_epoch().count()) + "-") {
  dialect_ = make_dialect(std::move(info));
}

Adapter::~Adapter() = default;

std::unique_ptr<engine::Submission> Adapter::submit(engine::Request request, engine::Listener& listener) {
  auto run = std::make_shared<AdapterRun>(*this, std::move(request), listener);
  run->begin();
  return std::make_unique<Running>(std::move(run));
}

void Adapter::tell_to_abort(const std::string& id) {
  if (dialect_->abort_path().empty()) return;
  const std::uint64_t key = next_abort_++;
  net::Request request{.method = "POST",
                       .url = info().url + dialect_->abort_path(),
                       .headers = {{"Content-Type", "application/json"}},
                       .body = dialect_->abort_body(id)};
  aborts_[key] = client_.fetch(std::move(request), [this, key](const Result<net::Response>&) { aborts_.erase(key); });
}

}  // namespace rondo::remote
