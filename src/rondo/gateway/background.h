// Responses in the background: they run on without a client, and are looked at through the store.  Private to gateway/.
//
// The gateway that runs one puts what came of it into the store about twice a second; any gateway on the store shows it, streams
// it again, and asks for its end.  One whose gateway has not been heard of for a minute has failed.
#pragma once

#include <cstdint>
#include <memory>

#include "gateway/keeping.h"

namespace rondo::gateway {

// The outlet of such a response.  `to` gets the first answer; with `streams` it gets the events as long as it lasts.
[[nodiscard]] std::shared_ptr<Outlet> background_outlet(Keeping keeping, std::shared_ptr<Outlet> to, bool streams);

// `GET /v1/responses/ID?stream=true`: the events behind number `after`, -1 for all.
void stream_again(const std::shared_ptr<Service::State>& state, const std::string& tenant, ResponseRecord record,
                  std::int64_t after, net::Exchange exchange);

// `POST /v1/responses/ID/cancel`.
void cancel_response(const std::shared_ptr<Service::State>& state, const std::string& tenant, ResponseRecord record,
                     net::Exchange exchange);

// The record as it is shown: one whose gateway is gone has failed, and is kept as such.
[[nodiscard]] ResponseRecord looked_after(Service::State& state, const Archive& archive, ResponseRecord record);

}  // namespace rondo::gateway
