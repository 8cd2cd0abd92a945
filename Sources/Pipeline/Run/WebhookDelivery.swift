import Basics
import FoundationEssentials
import HTTPTransport
import JobFiles

/// Posts a document to a webhook, and again after a failure that can pass.
struct WebhookDelivery {
    /// Why an attempt failed.
    private struct Failure {
        let reason: String
        /// Whether another attempt can succeed.
        var isTemporary = false
        /// When the server wants it.
        var pause: Duration?
    }

    /// The pauses between attempts, unless the server names one.
    private static let pauses: [Duration] = [.seconds(1), .seconds(4)]
    /// After this time no attempt begins.
    private static let latestStart = Duration.seconds(20)

    let webhook: Webhook
    let transport: CurlTransport
    let time: Timekeeper

    /// - Returns: A message if the document was not delivered, without the URL and the server's own words.
    func deliver(_ body: [UInt8]) async -> String? {
        let began = time.monotonic()
        var attempts = 1
        while let failure = await post(body) {
            let usual = Self.pauses.indices.contains(attempts - 1) ? Self.pauses[attempts - 1] : nil
            guard failure.isTemporary, let usual, case let pause = failure.pause ?? usual,
                time.monotonic() - began + pause <= Self.latestStart, (try? await time.sleep(pause)) != nil
            else {
                return "notify: not delivered\(attempts > 1 ? " in \(attempts) attempts" : ""): \(failure.reason)"
            }
            attempts += 1
        }
        return nil
    }

    /// - Returns: `nil` if the server took the document.
    private func post(_ body: [UInt8]) async -> Failure? {
        var request = HTTPRequest(
            .post,
            webhook.url.reveal(),
            headers: [HTTPHeader("Content-Type", "application/json")],
            body: body
        )
        request.departure.onNewConnection = true
        do {
            return failure(of: try await transport.send(request))
        } catch let fault as TransportFault {
            let passing: [TransportFault.Reason] = [.resolve, .connect, .timedOut, .tooSlow, .connectionLost]
            // The fault's detail can name the host, which is part of the URL.
            return Failure(reason: fault.reason.rawValue, isTemporary: passing.contains(fault.reason))
        } catch {
            return Failure(reason: "stopped")
        }
    }

    private func failure(of response: HTTPResponse) -> Failure? {
        let text = String(decoding: response.body.prefix(1_000), as: UTF8.self)
        let answer = text.wholeMatch(of: /\s*(.*?)\s*/.dotMatchesNewlines())?.1 ?? ""
        var status = response.status
        if (200...299).contains(status) {
            switch webhook.format {
            case .json: return nil
            case .slack:
                // Slack answers `ok`; servers that take its messages can answer with nothing or with JSON.
                if answer.isEmpty || answer == "ok" || answer.hasPrefix("{") { return nil }
                return Failure(reason: "the server answered \(Self.word(answer) ?? "with a text that is not ok")")
            case .teams:
                // Teams' older webhooks report a failure with status 200 and a text with the status of another server.
                guard let inner = answer.firstMatch(of: /HTTP error ([0-9]{3})/) else { return nil }
                status = Int(inner.1) ?? status
            }
        }
        let word = webhook.format == .slack ? Self.word(answer).map { " (\($0))" } ?? "" : ""
        return Failure(
            reason: "the server answered with HTTP status \(status)\(word)",
            isTemporary: status == 429 || (500...599).contains(status),
            pause: response.headers.first { $0.name.lowercased() == "retry-after" }.flatMap { Int64($0.value) }
                .flatMap { (0...86_400).contains($0) ? .seconds($0) : nil }
        )
    }

    /// One of Slack's words for errors, such as `no_service`.
    private static func word(_ answer: Substring) -> String? {
        answer.wholeMatch(of: /[a-z_]{1,40}/).map { String($0.0) }
    }
}
