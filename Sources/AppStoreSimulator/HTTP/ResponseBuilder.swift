import HTTPTypes
import Hummingbird
import NIOCore
import SignedData

/// Signs and writes the answers of the routes, with the fault that a rule asks for.
struct ResponseBuilder: Sendable {
    let app: SimulatedApp
    let issuer: JWSIssuer
    let cursors: CursorCodec
    let faultySigners: FaultySigners
    let log: AnswerLog

    /// A response that takes the place of the route's answer; `nil` when the connection was dropped.
    struct Replacement {
        let response: Response?
    }

    /// Returns `nil` when the rule's fault needs the route's answer.
    func replacement(under rule: FaultRule, context: ConnectionContext) async throws -> Replacement? {
        switch rule.fault {
        case .rateLimited:
            return Replacement(response: .tooManyRequests(rule.retryAfter ?? []))
        case .status:
            return Replacement(response: scripted(by: rule))
        case .refuseToken, .refuseNewToken:
            return Replacement(response: Response(status: .unauthorized))
        case .garbageBody:
            return Replacement(response: .json(Array((rule.body ?? "{\"revision\":").utf8)))
        case .dropConnection:
            await context.dropConnection()
            return Replacement(response: nil)
        case .delay:
            try await Task.sleep(for: .milliseconds(rule.milliseconds ?? 0))
            return nil
        case .truncateBody, .slow, .forgeSignature, .wrongBundle, .expiredLeaf, .duplicateKey, .omitPrice,
            .secondTransactionId, .repeatPage, .emptyPages, .expireToken, .applyThenDrop, .applyThenStatus,
            .refuseRepeat:
            return nil
        }
    }

    /// A response that takes the place of an answer which the route has already given; `nil` when the rule's fault is another.
    func replacementAfterwards(under rule: FaultRule, context: ConnectionContext) async -> Replacement? {
        switch rule.fault {
        case .applyThenDrop:
            await context.dropConnection()
            return Replacement(response: nil)
        case .applyThenStatus:
            return Replacement(response: scripted(by: rule))
        default:
            return nil
        }
    }

    /// The status of a rule, with its body or its error in Apple's format.
    private func scripted(by rule: FaultRule) -> Response {
        let status = rule.status ?? 500
        if let body = rule.body {
            return Response(
                status: HTTPResponse.Status(code: status),
                body: ResponseBody(byteBuffer: ByteBuffer(string: body))
            )
        }
        guard let code = rule.errorCode else { return Response(status: HTTPResponse.Status(code: status)) }
        return .json(APIError(code, rule.errorMessage ?? "Scripted error.").json, status: status)
    }

    /// The answer as an HTTP response.
    ///
    /// The faults about pages (`repeatPage`, `emptyPages`, `expireToken`) leave an answer without ``SimulatedAnswer/paging`` as it is. The
    /// faults about bodies leave an answer without a body as it is.
    func response(
        with answer: SimulatedAnswer,
        under rule: FaultRule?,
        context: ConnectionContext
    ) async throws(APIError) -> Response {
        guard answer.layout != nil else { return Response(status: HTTPResponse.Status(code: answer.status)) }
        guard let rule else { return .json(try body(of: answer)) }
        switch rule.fault {
        case .expireToken:
            if let paging = answer.paging, paging.requestCursor != nil { throw paging.style.expired }
            return .json(try body(of: answer))
        case .repeatPage:
            var repeated = answer
            repeated.paging?.hasMore = true
            return .json(try body(of: repeated, cursor: answer.paging?.requestCursor))
        case .emptyPages:
            return .json(try body(of: emptied(answer)))
        case .truncateBody:
            return truncated(try body(of: answer), to: rule.bytes ?? 0, context: context)
        case .slow:
            return slow(try body(of: answer), bytesPerSecond: rule.bytesPerSecond ?? 1)
        case .forgeSignature, .wrongBundle, .expiredLeaf, .duplicateKey, .omitPrice, .secondTransactionId:
            return .json(try body(of: answer, replacements: replacements(for: answer, under: rule)))
        case .rateLimited, .status, .refuseToken, .refuseNewToken, .dropConnection, .delay, .garbageBody,
            .applyThenDrop, .applyThenStatus,
            .refuseRepeat:
            return .json(try body(of: answer))
        }
    }

    /// Signs the records, writes the JSON and records the answer in the log.
    ///
    /// - `cursor`: The cursor to give instead of the next page's.
    /// - `replacements`: By index, the JWS of the records that a fault signs.
    private func body(
        of answer: SimulatedAnswer,
        cursor: String? = nil,
        replacements: [Int: String] = [:]
    ) throws(APIError) -> ByteBuffer {
        let next = answer.paging.map { cursor ?? cursors.encode($0) }
        log.record(AnswerLog.Served(answer: answer, next: next, replacements: replacements))
        var signed: [String] = []
        for (index, record) in answer.records.enumerated() {
            if let replacement = replacements[index] {
                signed.append(replacement)
            } else {
                signed.append(try sign(record))
            }
        }
        var json = AnswerWriter(capacity: 512 + signed.reduce(0) { $0 + $1.utf8.count + 256 })
        if let paging = answer.paging, let next {
            if paging.hasMore || paging.style.isOnLastPage { json.member(paging.style.cursorName, next) }
            json.member("hasMore", paging.hasMore)
        }
        answer.layout?(signed, &json)
        return json.finish()
    }

    private func sign(_ record: AnswerRecord) throws(APIError) -> String {
        do {
            return try issuer.sign(payload: record.payload(app.bundleId, issuer.sign(payload:)))
        } catch {
            // Signing fails only when OpenSSL has no memory left.
            throw .internalError
        }
    }

    private func replacements(for answer: SimulatedAnswer, under rule: FaultRule) throws(APIError) -> [Int: String] {
        var replacements: [Int: String] = [:]
        for (index, record) in answer.records.enumerated() where record.isSelected(oneIn: rule.oneIn ?? 1) {
            do {
                replacements[index] = try faultySigners.sign(record, under: rule.fault, in: app)
            } catch {
                // Signing fails only when OpenSSL has no memory left.
                throw .internalError
            }
        }
        return replacements
    }

    /// A page without records whose cursor is new but points to where the request already was.
    private func emptied(_ answer: SimulatedAnswer) -> SimulatedAnswer {
        guard let paging = answer.paging else { return answer }
        var empty = answer
        let requested = paging.requestCursor.flatMap { cursors.decode($0, boundTo: paging.binding) }
        empty.records = []
        empty.paging?.position = requested?.position ?? .first
        empty.paging?.issued = max(paging.issued, (requested?.issued ?? 0) + 1)
        empty.paging?.hasMore = true
        return empty
    }

    private func truncated(_ body: ByteBuffer, to bytes: Int, context: ConnectionContext) -> Response {
        let beginning = body.getSlice(at: body.readerIndex, length: min(bytes, body.readableBytes)) ?? body
        var response = Response.json(body)
        response.body = ResponseBody(contentLength: body.readableBytes) { writer in
            try await writer.write(beginning)
            await context.dropConnection()
            throw APIError.internalError  // Ends the response; the connection is closed, so no client reads the error.
        }
        return response
    }

    private func slow(_ body: ByteBuffer, bytesPerSecond: Int) -> Response {
        var response = Response.json(body)
        response.body = ResponseBody(contentLength: body.readableBytes) { writer in
            var rest = body
            while rest.readableBytes > 0 {
                // The bytes of a tenth of a second at a time, at least one.
                let bytes = min(rest.readableBytes, max(1, bytesPerSecond / 10))
                if let part = rest.readSlice(length: bytes) { try await writer.write(part) }
                try await Task.sleep(for: .seconds(Double(bytes) / Double(bytesPerSecond)))
            }
            try await writer.finish(nil)
        }
        return response
    }
}

extension CursorCodec {
    fileprivate func encode(_ paging: Paging) -> String {
        encode(Cursor(position: paging.position, issued: paging.issued), boundTo: paging.binding)
    }
}
