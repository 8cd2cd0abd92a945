/// The requests of the app's server that changed the world, one JSON object a line, in the order of the first ones.
///
/// `{"endpoint": …, "transactionId": …, "requestIdentifier": …, "body": {…}, "requested": n, "applied": n, "firstDate": …,
/// "lastDate": …}`. Equal requests share a line. `requested` counts those that Apple did not refuse and those that repeat an
/// applied one; `applied` counts those that changed the world. The dates are in milliseconds since 1970. A request to extend
/// all subscriptions also has `complete`, and the original transaction IDs `succeeded` and `failed`.
struct ActionListing {
    private let world: ServedWorld

    init(_ world: ServedWorld) {
        self.world = world
    }

    var jsonLines: [UInt8] {
        let (entries, massExtensions) = world.actions
        return entries.flatMap { entry in
            let request =
                entry.endpoint == Route.extendRenewalDatesForAll.name
                ? massExtensions.first { $0.requestIdentifier == entry.requestIdentifier } : nil
            return entry.json(request) + [UInt8(ascii: "\n")]
        }
    }
}

extension ActionHistory.Entry {
    fileprivate func json(_ massExtension: MassExtension?) -> [UInt8] {
        jsonObject {
            $0.member("endpoint", endpoint.text)
            $0.member("transactionId", transactionId)
            $0.member("requestIdentifier", requestIdentifier)
            $0.member("body", raw: body.isEmpty ? nil : Array(body.utf8))
            $0.member("requested", Int64(requested))
            $0.member("applied", Int64(applied))
            $0.member("firstDate", firstDate)
            $0.member("lastDate", lastDate)
            $0.member("complete", massExtension.map { $0.completeDate != nil })
            $0.member("succeeded", massExtension?.succeeded.map { String($0) })
            $0.member("failed", massExtension?.failed.map { String($0) })
        }
    }
}
