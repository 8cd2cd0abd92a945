import AppStoreModel
import HTTPTypes
import Hummingbird
import NIOCore
import SignedData

/// Makes the answers, right or as wrong as a fault rule asks.
struct FaultyAnswers: Sendable {
    let app: SimulatedApp
    let issuer: JWSIssuer
    let mint: CursorMint
    let issuers: FalseIssuers
    let log: PageLog

    /// An answer that needs no page; its response is `nil` when the connection was dropped.
    struct Instead {
        let response: Response?
    }

    /// What takes the place of a page, or `nil` when the page itself is wanted.
    func answer(instead rule: FaultRule, context: StoreContext) async throws -> Instead? {
        switch rule.fault {
        case .rateLimited:
            return Instead(response: .tooManyRequests(rule.retryAfter ?? []))
        case .status:
            let status = rule.status ?? 500
            if let body = rule.body {
                return Instead(
                    response: Response(
                        status: HTTPResponse.Status(code: status),
                        body: ResponseBody(byteBuffer: ByteBuffer(string: body))
                    )
                )
            }
            guard let code = rule.errorCode else {
                return Instead(response: Response(status: HTTPResponse.Status(code: status)))
            }
            let error = APIError(code, rule.errorMessage ?? "Scripted error.")
            return Instead(response: .json(error.json, status: status))
        case .garbageBody:
            return Instead(response: .json(Array((rule.body ?? "{\"revision\":").utf8)))
        case .dropConnection:
            await context.dropConnection()
            return Instead(response: nil)
        case .delay:
            try await Task.sleep(for: .milliseconds(rule.milliseconds ?? 0))
            return nil
        case .truncateBody, .slow, .forgeSignature, .wrongBundle, .expiredLeaf, .duplicateKey, .repeatPage,
            .emptyPages, .expireToken:
            return nil
        }
    }

    /// The page as an HTTP answer.
    func answer(
        with page: HistoryPage,
        under rule: FaultRule?,
        context: StoreContext
    ) async throws(APIError) -> Response {
        guard let rule else { return .json(try body(of: page)) }
        switch rule.fault {
        case .expireToken where page.asked != nil:
            throw page.cursorName == HistoryPage.token ? .paginationTokenExpired : .revision
        case .repeatPage:
            var repeated = page
            repeated.hasMore = true
            return .json(try body(of: repeated, cursor: page.asked))
        case .emptyPages:
            return .json(try body(of: emptied(page)))
        case .truncateBody:
            return truncated(try body(of: page), to: rule.bytes ?? 0, context: context)
        case .slow:
            return slow(try body(of: page), bytesPerSecond: rule.bytesPerSecond ?? 1)
        case .forgeSignature, .wrongBundle, .expiredLeaf, .duplicateKey:
            return .json(try resigned(page, under: rule))
        default:
            return .json(try body(of: page))
        }
    }

    private func body(
        of page: HistoryPage,
        cursor: String? = nil,
        replacements: [Int: [UInt8]] = [:]
    ) throws(APIError) -> ByteBuffer {
        let next =
            cursor
            ?? mint.text(of: CursorMint.Cursor(position: page.position, issued: page.issued), bound: page.binding)
        log.note(PageLog.Served(page: page, next: next, replacements: replacements))
        do {
            return try page.body(cursor: next, in: app, by: issuer, replacements: replacements)
        } catch {
            // Signing fails only when OpenSSL has no memory left.
            throw .internalError
        }
    }

    private func resigned(_ page: HistoryPage, under rule: FaultRule) throws(APIError) -> ByteBuffer {
        var replacements: [Int: [UInt8]] = [:]
        for (index, item) in page.items.enumerated() where item.isOne(in: rule.oneIn ?? 1) {
            // Signing fails only when OpenSSL has no memory left.
            guard let jws = try? issuers.jws(of: item, under: rule.fault, in: app) else { throw .internalError }
            replacements[index] = jws
        }
        return try body(of: page, replacements: replacements)
    }

    /// A page that gets nobody anywhere: its cursor is new, and points to where the request already was.
    private func emptied(_ page: HistoryPage) -> HistoryPage {
        var empty = page
        let asked = page.asked.flatMap { mint.cursor($0, bound: page.binding) }
        empty.items = []
        empty.position = asked?.position ?? .first
        empty.issued = max(page.issued, (asked?.issued ?? 0) + 1)
        empty.hasMore = true
        return empty
    }

    private func truncated(_ body: ByteBuffer, to bytes: Int, context: StoreContext) -> Response {
        let beginning = body.getSlice(at: body.readerIndex, length: min(bytes, body.readableBytes)) ?? body
        var response = Response.json(body)
        response.body = ResponseBody(contentLength: body.readableBytes) { writer in
            try await writer.write(beginning)
            await context.dropConnection()
            throw APIError.internalError  // Ends the answer here; nobody is connected to read it.
        }
        return response
    }

    private func slow(_ body: ByteBuffer, bytesPerSecond: Int) -> Response {
        var response = Response.json(body)
        response.body = ResponseBody(contentLength: body.readableBytes) { writer in
            var rest = body
            while rest.readableBytes > 0 {
                // A tenth of a second's worth at a time, at least one byte.
                let bytes = min(rest.readableBytes, max(1, bytesPerSecond / 10))
                if let part = rest.readSlice(length: bytes) { try await writer.write(part) }
                try await Task.sleep(for: .seconds(Double(bytes) / Double(bytesPerSecond)))
            }
            try await writer.finish(nil)
        }
        return response
    }
}
