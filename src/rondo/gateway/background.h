// Responses in the background: they run on without a client, and are looked at through the store.  Private to gateway/.
//
// The gateway that runs one puts what came of it into the store about twice a second; any gateway on the store shows it, streams
// it again, and asks for its end.  One whose gateway has not been heard of for a minute has failed.
#pragma once

#include <cstdint>
#include <memory>

#include "gateway/keeping.h"

namespace rondo::gateway {

// Where such a response goes.  `to` gets the first answer; if it takes events it gets them as long as it lasts.
[[nodiscard]] std::shared_ptr<ReplySink> background_sink(Keeping keeping, std::shared_ptr<ReplySink> to);

// `GET /v1/responses/ID?stream=true`: the events behind number `after`, -1 for all.
void stream_again(Service::State& state, const ResponseRecord& record, std::int64_t after, net::Exchange exchange);

// `POST /v1/responses/ID/cancel`.  On a worker.
[[nodiscard]] Answer cancel_response(Service::State& state, const Archive& archive, ResponseRecord record);

// The record as it is shown: one whose gateway is gone has failed, and is kept as such.  On a worker.
[[nodiscard]] ResponseRecord looked_after(Service::State& state, const Archive& archive, ResponseRecord record);

}  // namespace rondo::gateway
