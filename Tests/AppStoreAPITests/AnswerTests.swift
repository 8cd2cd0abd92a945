import AppStoreAPI
import AppStoreModel
import Testing

/// What happens to an answer that is no page.
struct AnswerTests {
    private func failure(of reply: String) async throws -> RequestFailure? {
        let apple = try ScriptedApple { _ in reply }
        return try await withClient(of: apple) { client in
            await #expect(throws: RequestFailure.self) {
                try await client.somePage()
            }
        }
    }

    private func message(of reply: String) async throws -> String {
        guard case .answered(let answer) = try await failure(of: reply) else { return "" }
        return answer.message
    }

    @Test
    func `Apple's code, message and every Retry-After come through`() async throws {
        let failure = try await failure(
            of: answer(
                429,
                #"{"errorCode":4290000,"errorMessage":"Rate limit exceeded."}"#,
                ["Retry-After: 1798761600000", "retry-after: soon", "Date: Sat, 21 Nov 2026 03:00:00 GMT"]
            )
        )
        #expect(
            failure
                == .answered(
                    HTTPAnswer(
                        status: 429,
                        errorCode: 4_290_000,
                        message: "Rate limit exceeded.",
                        retryAfter: ["1798761600000", "soon"],
                        date: "Sat, 21 Nov 2026 03:00:00 GMT"
                    )
                )
        )
    }

    @Test(arguments: [201, 204, 206, 301, 302, 307, 400, 401, 403, 404, 405, 406, 408, 415, 425, 500, 502, 503, 504])
    func `every status but 200 is an answer, not a page`(status: Int) async throws {
        let body = status == 204 ? "" : emptyPage
        guard case .answered(let answer) = try await failure(of: answer(status, body, ["Location: /"])) else {
            Issue.record("no answer")
            return
        }
        #expect(answer.status == status)
        #expect(answer.errorCode == nil)
    }

    @Test(arguments: [
        "", " ", "{", "[]", "<html>", #"{"errorCode":5000000,"errorMessage":"General"}"#, #"{"hasMore":true}"#,
    ])
    func `H40 a 200 without a page is a bad page`(body: String) async throws {
        guard case .badPage = try await failure(of: answer(200, body)) else {
            Issue.record("no bad page")
            return
        }
    }

    @Test
    func `H30 a cut body is a transport failure`() async throws {
        let failure = try await failure(of: "HTTP/1.1 200 OK\r\nContent-Length: 9\r\nConnection: close\r\n\r\n{")
        guard case .transport(let detail) = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(detail.hasPrefix("connectionLost: "))
    }

    @Test
    func `H18 H29 an answer's words are shortened and escaped`() async throws {
        let message = try await message(
            of: answer(500, "\u{1B}[31mred\r\n\u{202E}\\" + String(repeating: "x", count: 1_000_000))
        )
        #expect(message.hasPrefix(#"\u{1b}[31mred\u{d}\u{a}\u{202e}\\xxx"#))
        #expect(message.count == 512)
        #expect(message.hasSuffix("x..."))
    }

    @Test(arguments: [
        "Authorization: Bearer %@ is no good", "%@", #"{"errorCode":4010000,"errorMessage":"bad token %@"}"#,
    ])
    func `H29 a token a server echoes is not repeated`(template: String) async throws {
        let token = "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJ4In0.c2lnbmF0dXJl"
        let message = try await message(of: answer(500, template.replacing("%@", with: token)))
        #expect(message.contains("<redacted>"))
        #expect(!message.contains("eyJ") && !message.contains("c2lnbmF0dXJl"))
    }

    @Test
    func `H29 a token cut by the limit is not repeated either`() async throws {
        let message = try await message(
            of: answer(500, String(repeating: "x", count: 500) + "eyJ" + String(repeating: "a", count: 5_000))
        )
        #expect(message.count <= 512)
        #expect(!message.contains("eyJ"))
    }

    @Test(arguments: ["text/html", "", "application/octet-stream; charset=x", nil])
    func `H37 a page is accepted with any Content-Type`(type: String?) async throws {
        let apple = try ScriptedApple { _ in answer(200, emptyPage, type.map { ["Content-Type: \($0)"] } ?? []) }
        let page = try await withClient(of: apple) { client in
            try await client.somePage()
        }
        #expect(!page.hasMore)
    }

    @Test(arguments: [
        "/x\r\nSet-Cookie: a=b", "/x%0d%0aSet-Cookie: a=b", "/x\rSet-Cookie: a=b", "/\u{1B}[31m",
        "//evil\r\n\r\n<html>",
    ])
    func `H49 the target of a redirect is neither followed nor shown`(location: String) async throws {
        let apple = try ScriptedApple { _ in answer(302, "", ["Location: \(location)"]) }
        let failure = try await withClient(of: apple) { client in
            await #expect(throws: RequestFailure.self) {
                try await client.somePage()
            }
        }
        #expect(apple.requests.count == 1)
        let words = String(describing: failure)
        #expect(!words.contains("Cookie") && !words.contains("evil") && !words.contains("\u{1B}"), "\(words)")
        guard case .answered(let answer) = failure else { return }
        #expect(answer.status == 302)
    }

    @Test
    func `a refused connection is a transport failure`() async throws {
        let apple = try ScriptedApple { _ in "" }
        let failure = try await withClient(of: apple) { client in
            apple.stop()
            return await #expect(throws: RequestFailure.self) {
                try await client.somePage()
            }
        }
        guard case .transport = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
    }
}
