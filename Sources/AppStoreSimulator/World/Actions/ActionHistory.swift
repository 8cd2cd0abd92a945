import StrictJSON

/// The requests that changed the world, or repeated one that did, for `GET /simulator/actions`.
///
/// A refused request is not in it.
struct ActionHistory: Sendable {
    /// All equal requests.
    struct Entry: Sendable {
        let endpoint: EndpointName
        let transactionId: String?
        let requestIdentifier: String?
        /// Compact JSON; empty for a request without a body.
        let body: String
        /// How many requests there were.
        fileprivate(set) var requested = 0
        /// How many of them changed the world.
        fileprivate(set) var applied = 0
        /// Of the first and of the last request, in milliseconds since 1970.
        let firstDate: Int64
        fileprivate(set) var lastDate: Int64
    }

    private struct Key: Hashable {
        let endpoint: EndpointName
        let transactionId: String?
        let requestIdentifier: String?
        let body: String
    }

    /// In the order of their first requests.
    private(set) var entries: [Entry] = []
    private var places: [Key: Int] = [:]

    /// - `requestIdentifier`: The one in the body, or the one that the answer gives to the request.
    mutating func record(_ request: ActionRequest, requestIdentifier: String? = nil, isApplied: Bool) {
        // A body that is not JSON is refused before.
        let body = (try? StrictJSON.parse(request.body)).map(JSONWriter.text) ?? ""
        let key = Key(
            endpoint: request.endpoint,
            transactionId: request.parameters.transactionId,
            requestIdentifier: requestIdentifier,
            body: body
        )
        let place = places[key] ?? entries.count
        if place == entries.count {
            places[key] = place
            entries.append(
                Entry(
                    endpoint: key.endpoint,
                    transactionId: key.transactionId,
                    requestIdentifier: requestIdentifier,
                    body: body,
                    firstDate: request.date,
                    lastDate: request.date
                )
            )
        }
        entries[place].requested += 1
        entries[place].applied += isApplied ? 1 : 0
        entries[place].lastDate = request.date
    }
}
