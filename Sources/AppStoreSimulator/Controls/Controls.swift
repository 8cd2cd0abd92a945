import AppStoreModel
import HTTPTypes
import Hummingbird
import SignedData
import StrictJSON

/// The simulator's own endpoints, for tests and for trying jobs out.
///
/// Apple has none of them, and they need no token.
///
/// | Request | Does |
/// |---|---|
/// | `POST /simulator/advance` `{"changes": n}` | adds n transactions or refunds and their notifications, dated a minute ago, or right after the last change if that is later; with `"from": t`, dated from t (milliseconds since 1970) on |
/// | `POST /simulator/advance` `{"days": n}` | adds the changes of the n days after the last change; notifications with a future date are not in the history yet |
/// | `POST /simulator/advance` `{"refundRequests": n}` | n customers ask for refunds, dated as the changes; Apple asks the app for consumption information |
/// | `POST /simulator/advance` `{"renewals": n}` | the periods of n subscriptions that Advanced Commerce requests have changed end now: they renew or expire |
/// | `POST /simulator/advance` `{"until": t}` | the periods that are over at t, at least a minute ago, and were not at the last such step, renew or lapse |
/// | `POST /simulator/advance` `{"customers": n}` | n customers come, with a first purchase each |
/// | `POST /simulator/advance` `{"externalPurchaseTokens": n}` | n tokens of external purchases are created, each with a notification |
/// | `POST /simulator/advance` `{"unclaims": n}` | Apple takes the seats of the n oldest seat claims back and tells it (UNCLAIM_SEATS) |
/// | `GET /simulator/requests` | counts by endpoint and status, and every request |
/// | `GET /simulator/pages/n` | every answer with records from number n on, as JSON lines |
/// | `GET /simulator/world` | everything that a complete crawl must find now, as JSON lines |
/// | `GET /simulator/world/KIND` | the same, of one kind alone |
/// | `GET /simulator/actions` | the requests that changed the world, as JSON lines |
/// | `PUT /simulator/faults` | replaces the fault rules with those in the body |
/// | `GET /simulator/deliveries` | the notifications that the simulator posts, with the attempts made, as JSON lines |
/// | `PUT /simulator/delivery-faults` | replaces the fault rules of deliveries with those in the body |
struct Controls: Sendable {
    let world: ServedWorld
    let issuer: JWSIssuer
    let faults: FaultRules
    let log: ArrivalLog
    let answers: AnswerLog
    /// `nil` when the simulator posts no notifications.
    let deliveries: DeliveryLog?
    let now: @Sendable () -> UnixMilliseconds

    func respond(to method: HTTPRequest.Method, path: String, body: [UInt8]) async throws -> Response {
        switch (method, path) {
        case (.post, "/simulator/advance"): try advance(body)
        case (.get, "/simulator/requests"): .json(log.json)
        case (.get, "/simulator/world"): try listWorld()
        case (.get, "/simulator/actions"): .json(ActionListing(world).jsonLines)
        case (.put, "/simulator/faults"): replaceFaults(body)
        case (.get, "/simulator/deliveries"): .json(deliveries?.jsonLines ?? [])
        case (.put, "/simulator/delivery-faults"): replaceDeliveryFaults(body)
        case (.get, _) where path.hasPrefix(Self.worldPath): try listWorld(path.dropFirst(Self.worldPath.count))
        case (.get, _) where path.hasPrefix(Self.pagesPath): servedAnswers(since: path.dropFirst(Self.pagesPath.count))
        default: Response(status: .notFound)
        }
    }

    private static let worldPath = "/simulator/world/"

    /// Lists records of one kind, or of all.
    private func listWorld(_ kind: Substring? = nil) throws -> Response {
        if let kind, !WorldListing.kinds.contains(String(kind)) {
            return Self.badRequest("Use one of these kinds: \(WorldListing.kinds.joined(separator: ", ")).")
        }
        return .json(try WorldListing(world, issuer: issuer, now: now(), kind: kind.map(String.init)).jsonLines)
    }

    private static let pagesPath = "/simulator/pages/"

    private func servedAnswers(since number: Substring) -> Response {
        guard let number = Int(number) else { return Self.badRequest("Use /simulator/pages/0 or a greater number.") }
        return .json(answers.jsonLines(since: number))
    }

    private func advance(_ body: [UInt8]) throws -> Response {
        let moment = now()
        // The message below covers every problem of the JSON.
        guard let document = try? StrictJSON.parseObject(body), let step = WorldStep(document, at: moment.rawValue)
        else {
            return Self.badRequest(
                "Send {\"changes\": n}, also with \"from\", {\"days\": n}, {\"refundRequests\": n}, {\"renewals\": n}, {\"externalPurchaseTokens\": n}, {\"customers\": n} or {\"unclaims\": n} with n from 1 to \(WorldStep.limit), or {\"until\": milliseconds since 1970}."
            )
        }
        let changes = try world.advance(by: step, at: moment.rawValue)
        return .json(jsonObject { $0.member("changes", objects: changes.compactMap(Self.json)) })
    }

    private func replaceFaults(_ body: [UInt8]) -> Response {
        do throws(SimulatorError) {
            faults.replace(with: try FaultPlan(json: body, source: "the request", endpoints: faults.endpoints))
            return .json(jsonObject { _ in })
        } catch {
            return Self.badRequest(error.description)
        }
    }

    private func replaceDeliveryFaults(_ body: [UInt8]) -> Response {
        guard let deliveries else {
            return Self.badRequest("The simulator posts no notifications; start it with --notify-url.")
        }
        do throws(SimulatorError) {
            deliveries.replace(with: try DeliveryFaults(json: body))
            return .json(jsonObject { _ in })
        } catch {
            return Self.badRequest(error.description)
        }
    }

    private static func badRequest(_ message: String) -> Response {
        .json(APIError(4_000_000, message).json, status: 400)
    }

    /// `nil` for a change that is not about a transaction.
    private static func json(_ change: WorldChange) -> [UInt8]? {
        guard let transactionId = change.transactionId else { return nil }
        return jsonObject {
            $0.member("transactionId", transactionId)
            $0.member("isNew", change.isNew)
            $0.member("date", change.date)
            $0.member("notificationUUID", change.notification?.uuid)
        }
    }
}

extension WorldStep {
    fileprivate init?(_ document: JSONObject, at now: Int64) {
        let from = document["from"]?.number?.int64
        guard document.members.count == (from == nil ? 1 : 2),
            let member = document.members.first(where: { $0.key != "from" }), case .number(let number) = member.value
        else { return nil }
        if member.key == "until", from == nil, let moment = number.int64 {
            // As other changes, at least a minute ago.
            self = .until(min(moment, now - Moment.minute))
            return
        }
        guard let count = Int(number.text), (1...Self.limit).contains(count), from == nil || member.key == "changes"
        else { return nil }
        switch member.key {
        case "changes": self = .changes(count, from: from ?? Self.recentDate(of: count, at: now))
        case "refundRequests": self = .refundRequests(count, from: Self.recentDate(of: count, at: now))
        case "renewals": self = .renewals(count, from: Self.recentDate(of: count, at: now))
        case "customers": self = .customers(count, from: Self.recentDate(of: count, at: now))
        case "externalPurchaseTokens": self = .purchaseTokens(count, from: Self.recentDate(of: count, at: now))
        case "unclaims": self = .unclaims(count, from: Self.recentDate(of: count, at: now))
        case "days": self = .days(count)
        default: return nil
        }
    }
}
