import AppStoreModel
import SignedData
import Streams
import StrictJSON
import TestSupport

@testable import AppStoreSimulator

extension TestStore {
    static let notifications = "/inApps/v1/notifications/history"

    static func history(_ id: String) -> String { "/inApps/v2/history/\(id)" }
    static func refunds(_ id: String) -> String { "/inApps/v2/refund/lookup/\(id)" }
    static func statuses(_ id: String) -> String { "/inApps/v1/subscriptions/\(id)" }
    static func appTransaction(_ id: String) -> String { "/inApps/v1/transactions/appTransactions/\(id)" }
    static func order(_ id: String) -> String { "/inApps/v1/lookup/\(id)" }
    static func historyV1(_ id: String) -> String { "/inApps/v1/history/\(id)" }
    static func refundsV1(_ id: String) -> String { "/inApps/v1/refund/lookup/\(id)" }

    /// All pages of a GET history, from the beginning or from `revision`.
    func pages(
        _ path: String,
        _ query: [(String, String)] = [],
        from revision: String? = nil,
        decode: ([UInt8]) throws -> Page
    ) async throws -> [Page] {
        var pages: [Page] = []
        var cursor = revision
        repeat {
            let answer = try await get(path, query + (cursor.map { [("revision", $0)] } ?? []))
            pages.append(try decode(answer.body))
            cursor = pages.last?.cursor
        } while pages.last?.hasMore == true && pages.count < 100
        return pages
    }

    func notificationPages(_ body: String, from token: String? = nil) async throws -> [Page] {
        var pages: [Page] = []
        var cursor = token
        repeat {
            let answer = try await post(Self.notifications, cursor.map { [("paginationToken", $0)] } ?? [], body: body)
            pages.append(try NotificationHistory.page(answer.body))
            cursor = pages.last?.cursor
        } while pages.last?.hasMore == true && pages.count < 100
        return pages
    }

    /// The verified payloads of the pages' records, in order.
    func payloads(_ pages: [Page]) throws -> [JSONObject] {
        let texts = pages.flatMap(\.records).flatMap { record -> [String] in
            switch record {
            case .transaction(let jws), .refund(let jws), .notification(let jws, _), .appTransaction(let jws): [jws]
            case .subscriptionStatus(let subscription):
                [subscription.transaction, subscription.renewalInfo].compactMap(\.self)
            case .order(_, let transactions): transactions
            case .customerGroup, .groupMember, .seatInfo, .unusableAnswer: []
            case .unreadable(let text): [text]
            }
        }
        return try texts.map { jws in
            let payload = try verifier.verify(
                jws,
                now: clock.now,
                maximumBytes: JWSVerifier.maximumNotificationBytes
            )
            return payload.json.object ?? JSONObject()
        }
    }

    /// The verified payload of one signed text.
    func payload(_ jws: String?) throws -> JSONObject {
        try verifier.verify(jws ?? "", now: clock.now).json.object ?? JSONObject()
    }

    /// The payloads without their signing dates: the part that is the same in every answer.
    func contents(_ pages: [Page]) throws -> [JSONObject] {
        try payloads(pages).map(\.content)
    }

    /// The app transaction IDs of the customers who have bought something.
    var appTransactionIds: Set<String> {
        get async throws {
            try await Set(world("transaction").values.compactMap { $0.object?["appTransactionId"]?.string })
        }
    }

    /// A request body for the longest period of production, until now.
    var wholeReach: String {
        "{\"startDate\":\((clock.now - .seconds(179 * 86_400)).rawValue),\"endDate\":\(clock.now.rawValue)}"
    }

    /// The lines of `GET /simulator/world/KIND`: payloads by key.
    func world(_ kind: String) async throws -> [String: JSONValue] {
        try await listed(kind).compactMapValues { $0["payload"] }
    }

    /// The lines of `GET /simulator/world/KIND`, by key.
    func listed(_ kind: String) async throws -> [String: JSONObject] {
        let world = try await get("/simulator/world/\(kind)", token: .some(nil)).body
        var found: [String: JSONObject] = [:]
        for line in world.lines {
            let object = try StrictJSON.parseObject(line)
            if let key = object["key"]?.string { found[key] = object }
        }
        return found
    }
}

extension JSONObject {
    /// A number of milliseconds.
    func moment(_ key: String) -> Int64? {
        self[key].flatMap { Int64(JSONWriter.text($0)) }
    }

    /// A payload without its signing date: the part that is the same in every answer.
    var content: JSONObject {
        var content = self
        content.members.removeAll { ["signedDate", "receiptCreationDate"].contains($0.key) }
        return content
    }

    /// A notification with the decoded payloads in place of its signed texts, which differ in every answer.
    var opened: JSONObject {
        var notification = self
        for (place, member) in members.enumerated() {
            guard var body = member.value.object else { continue }
            for (inner, signed) in body.members.enumerated() where signed.key.hasPrefix("signed") {
                guard let parts = signed.value.string?.split(separator: "."), parts.count == 3 else { continue }
                body.members[inner].value = .string(String(parts[1]))
            }
            notification.members[place].value = .object(body)
        }
        return notification
    }
}
