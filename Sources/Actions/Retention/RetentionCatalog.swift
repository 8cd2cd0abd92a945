import ActionKinds
import AppStoreAPI
package import AppStoreModel
package import Basics
import Crawl
package import RateLimit
import StrictJSON

/// What Apple has of an app's retention messages.
///
/// Apple lists identifiers and states, never a text or a picture. Source: Get Image List, Get Message List, Get Default Message, Retention
/// Messaging API 1.5, read 2026-11.
package struct RetentionCatalog: Equatable, Sendable {
    /// The state of an image or a message: PENDING, APPROVED or REJECTED.
    struct Entry: Equatable, Sendable {
        let state: String
        /// FULL_SIZE or BULLET_POINT; `nil` for a message.
        var size: String?
    }

    /// By identifier in lower case.
    var images: [String: Entry] = [:]
    var messages: [String: Entry] = [:]
    /// The message identifiers by subject, such as `default/com.example.monthly/en-US`.
    var defaults: [String: String] = [:]

    /// Reads the body of a 200 answer to one of the lists; `nil` for another body.
    static func entries(_ body: [UInt8], of list: RetentionList) -> [String: Entry]? {
        let noun = list == .images ? "image" : "message"
        guard let items = (try? StrictJSON.parseObject(body))?["\(noun)Identifiers"]?.array else { return nil }
        var entries: [String: Entry] = [:]
        for item in items {
            guard let object = item.object, let id = object["\(noun)Identifier"]?.string,
                let state = object["\(noun)State"]?.string
            else { return nil }
            entries[id.lowercased()] = Entry(state: state, size: object["imageSize"]?.string)
        }
        return entries
    }
}

/// Reads ``RetentionCatalog`` from Apple.
package struct RetentionCatalogReader: Sendable {
    let server: AppleServer
    let limiters: [StreamName: RateLimiter]
    let time: Timekeeper

    package init(server: AppleServer, limiters: [StreamName: RateLimiter], time: Timekeeper) {
        self.server = server
        self.limiters = limiters
        self.time = time
    }

    /// Asks for both lists, and for the default of each product and language that the folder names.
    ///
    /// - Throws: ``ActionStop`` if Apple does not answer as documented, `CancellationError`, errors of the ledger.
    package func catalog(for folder: RetentionFolder) async throws -> RetentionCatalog {
        var catalog = RetentionCatalog()
        for list in RetentionList.allCases {
            let body = try await body(of: list.request, endpoint: list.endpoint)
            guard let body, let entries = RetentionCatalog.entries(body, of: list) else {
                throw ActionStop.contractBroken(.init(message: "\(list.request.target): the answer is not a list"))
            }
            switch list {
            case .images: catalog.images = entries
            case .messages: catalog.messages = entries
            }
        }
        for pair in folder.namedDefaults {
            let request = RetentionDefault.request(product: pair.product, locale: pair.locale)
            guard let body = try await body(of: request, endpoint: RetentionDefault.endpoint) else { continue }
            catalog.defaults[pair.subject] = RetentionDefault.message(body)
        }
        return catalog
    }

    /// Asks for the real-time URL; `nil` if Apple has none.
    ///
    /// - Throws: As ``catalog(for:)``.
    package func realtimeURL() async throws -> String? {
        guard let body = try await body(of: RealtimeURL.request, endpoint: RealtimeURL.endpoint.name)
        else { return nil }
        guard let url = RealtimeURL.url(body) else {
            throw ActionStop.contractBroken(.init(message: "\(RealtimeURL.path): the answer has no realtimeURL"))
        }
        return url
    }

    /// What Apple answers for something that it does not have.
    private static let notFound = [AppleErrorCode.defaultMessageNotFound, .realtimeURLNotFound].map(\.rawValue)

    /// How often a request without a usable answer is sent.
    private static let attempts = 5

    /// - Returns: The body of a 200 answer; `nil` if Apple does not have it.
    private func body(of request: AppStoreRequest, endpoint: StreamName) async throws -> [UInt8]? {
        guard let limiter = limiters[endpoint] else { throw ActionStop.contractBroken(.init(message: "no limit")) }
        var attempt = 1
        while true {
            let permit = try await limiter.permit()
            let result = try await server.send(request, departingBy: permit.departsBy)
            if case .answered(let written) = result {
                switch written.answer.status {
                case 200: return written.body
                case 404 where written.answer.errorCode.map(Self.notFound.contains) == true: return nil
                case 429:
                    let (retryAfter, date) = (written.answer.retryAfter, written.answer.date)
                    _ = try await limiter.close(retryAfter: retryAfter, date: date)
                    continue
                case 401 where attempt >= Self.attempts: throw ActionStop.credentials(written.answer.report)
                case 401, 500...: break
                default: throw ActionStop.contractBroken(written.answer.report)
                }
            }
            guard attempt < Self.attempts else {
                throw ActionStop.contractBroken(.init(message: result.record.message ?? "Apple does not answer"))
            }
            try await time.sleep(.seconds(attempt))
            attempt += 1
        }
    }
}

extension RetentionFolder {
    /// A product and a language.
    struct Pair: Hashable {
        let product: String
        let locale: String
        var subject: String { "default/\(product)/\(locale)" }
    }

    /// The products and languages of `defaults.csv` and `delete.csv`, each once, in their order; those that are not valid are left out.
    var namedDefaults: [Pair] {
        var seen: Set<Pair> = []
        return (defaults + deletions).compactMap { line in
            guard let product = line["product_id"], let locale = line["locale"], Self.isValid("product_id", product),
                Self.isValid("locale", locale)
            else { return nil }
            let pair = Pair(product: product, locale: locale)
            return seen.insert(pair).inserted ? pair : nil
        }
    }

    private static func isValid(_ column: String, _ text: String) -> Bool {
        PublishRetentionMessages.columns.first { $0.name == column }?.value(text) != nil
    }
}
