import AppStoreModel
import HTTPTypes
import Hummingbird

/// The simulator's own endpoints, for tests and rehearsals; Apple has nothing like them, and they ask for no token.
///
/// | Request | Does |
/// |---|---|
/// | `POST /simulator/advance` `{"changes": n}` or `{"days": n}` | makes new transactions, refunds and notifications appear |
/// | `GET /simulator/requests` | counts by endpoint and status, and every arrival |
/// | `GET /simulator/pages/n` | every page served since the nth, as JSON lines |
/// | `GET /simulator/world` | everything a complete crawl must have found, as JSON lines |
/// | `PUT /simulator/faults` | replaces the fault rules by those of the body |
struct Controls: Sendable {
    let world: SignedWorld
    let faults: FaultBook
    let log: ArrivalLog
    let pages: PageLog
    let files: StoreDirectory

    func respond(to method: HTTPRequest.Method, path: String, body: [UInt8]) async throws -> Response {
        switch (method, path) {
        case (.post, "/simulator/advance"): try advance(body)
        case (.get, "/simulator/requests"): .json(log.json)
        case (.get, "/simulator/world"): .json(try WorldListing(world).jsonLines)
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
        // What is wrong with the JSON is in the one sentence below.
        guard let document = try? StrictJSON.parseObject(body), let step = WorldStep(document) else {
            return Self.complaint("Send {\"changes\": n} or {\"days\": n} with n from 1 to \(WorldStep.limit).")
        }
        let changes = try world.advance(by: step)
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
    fileprivate init?(_ document: JSONObject) {
        guard document.members.count == 1, let member = document.members.first, case .number(let number) = member.value,
            let count = Int(number.text), (1...Self.limit).contains(count)
        else { return nil }
        switch member.key {
        case "changes": self = .changes(count)
        case "days": self = .days(count)
        default: return nil
        }
    }
}
