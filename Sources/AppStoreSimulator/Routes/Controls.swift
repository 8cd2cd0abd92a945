import AppStoreModel
import HTTPTypes
import Hummingbird
import SignedData

/// The simulator's own endpoints, for tests and rehearsals; Apple has nothing like them, and they ask for no token.
///
/// | Request | Does |
/// |---|---|
/// | `POST /simulator/advance` `{"changes": n}` | makes n transactions or refunds and their notifications appear, dated a minute ago, or right behind the last change if that is later |
/// | `POST /simulator/advance` `{"days": n}` | moves the world on by n days from its last change; a notification whose day has not come is not in the history yet |
/// | `GET /simulator/requests` | counts by endpoint and status, and every arrival |
/// | `GET /simulator/pages/n` | every page served since the nth, as JSON lines |
/// | `GET /simulator/world` | everything that a complete crawl of this moment must find, as JSON lines |
/// | `PUT /simulator/faults` | replaces the fault rules by those of the body |
struct Controls: Sendable {
    let world: ServedWorld
    let issuer: JWSIssuer
    let faults: FaultBook
    let log: ArrivalLog
    let pages: PageLog
    let files: StoreDirectory
    let now: @Sendable () -> UnixMilliseconds

    func respond(to method: HTTPRequest.Method, path: String, body: [UInt8]) async throws -> Response {
        switch (method, path) {
        case (.post, "/simulator/advance"): try advance(body)
        case (.get, "/simulator/requests"): .json(log.json)
        case (.get, "/simulator/world"): .json(try WorldListing(world, issuer: issuer, now: now()).jsonLines)
        case (.put, "/simulator/faults"): replaceFaults(body)
        case (.get, _) where path.hasPrefix(Self.pagesPath): servedPages(since: path.dropFirst(Self.pagesPath.count))
        default: Response(status: .notFound)
        }
    }

    private static let pagesPath = "/simulator/pages/"

    private func servedPages(since number: Substring) -> Response {
        guard let number = Int(number) else { return Self.complaint("Ask for /simulator/pages/0, or a later number.") }
        return .json(pages.jsonLines(since: number))
    }

    private func advance(_ body: [UInt8]) throws -> Response {
        let moment = now()
        // What is wrong with the JSON is in the one sentence below.
        guard let document = try? StrictJSON.parseObject(body), let step = WorldStep(document, at: moment.rawValue)
        else {
            return Self.complaint("Send {\"changes\": n} or {\"days\": n} with n from 1 to \(WorldStep.limit).")
        }
        let changes = world.advance(by: step, at: moment.rawValue)
        try files.remember(step)
        return .json(jsonObject { $0.member("changes", objects: changes.map(Self.json)) })
    }

    private func replaceFaults(_ body: [UInt8]) -> Response {
        do throws(SimulatorError) {
            faults.replace(with: try FaultPlan(json: body, source: "the request"))
            return .json(jsonObject { _ in })
        } catch {
            return Self.complaint(error.description)
        }
    }

    private static func complaint(_ message: String) -> Response {
        .json(APIError(4_000_000, message).json, status: 400)
    }

    private static func json(_ change: WorldChange) -> [UInt8] {
        jsonObject {
            $0.member("transactionId", change.transactionId)
            $0.member("isNew", change.isNew)
            $0.member("date", change.date)
            $0.member("notificationUUID", change.notification.uuid)
        }
    }
}

extension WorldStep {
    fileprivate init?(_ document: JSONObject, at now: Int64) {
        guard document.members.count == 1, let member = document.members.first, case .number(let number) = member.value,
            let count = Int(number.text), (1...Self.limit).contains(count)
        else { return nil }
        switch member.key {
        case "changes": self = .recentChanges(count, at: now)
        case "days": self = .days(count)
        default: return nil
        }
    }
}
