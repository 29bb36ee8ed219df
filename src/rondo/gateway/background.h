// Background responses: they run on without a client, and clients read them from the store.  Private to gateway/.
//
// The gateway that runs one stores its progress about twice a second.  Every gateway on the store can show it, stream
// it again, and ask it to stop.  If its gateway has not been heard from for a minute, the response has failed.
#pragma once

#include <cstdint>
#include <memory>

#include "gateway/keeping.h"

namespace rondo::gateway {

// Makes the sink of a background response.  `to` gets the first answer and, if it takes events, every event while it
// lasts.
[[nodiscard]] std::shared_ptr<ReplySink> background_sink(Keeping keeping, std::shared_ptr<ReplySink> to);

// Answers `GET /v1/responses/ID?stream=true` with the events after number `after`; -1 means all events.
void stream_again(Service::State& state, const ResponseRecord& record, std::int64_t after, net::Exchange exchange);

// Answers `POST /v1/responses/ID/cancel`.  Runs on a worker.
[[nodiscard]] Answer cancel_response(Service::State& state, const Archive& archive, ResponseRecord record);

// Returns the record to show.  If the gateway that ran the response is gone, marks the response as failed and stores
// that.  Runs on a worker.
[[nodiscard]] ResponseRecord looked_after(Service::State& state, const Archive& archive, ResponseRecord record);

}  // namespace rondo::gateway
