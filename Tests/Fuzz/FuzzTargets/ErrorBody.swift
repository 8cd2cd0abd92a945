import AppStoreAPI
import AppStoreModel
import Crawl
import FoundationEssentials
import HTTPTransport
import Streams

extension FuzzTarget {
    /// The body of an answer that is not 200: its words are harmless in a log, and its code is what it says.
    ///
    /// Two bytes are the status; then the body.
    static let errorBody = FuzzTarget(name: "error-body", longestInput: 4_096) { input in
        var reader = InputReader(input)
        let status = 100 + reader.number(below: 500)
        let body = reader.remaining()
        let answer = HTTPAnswer(HTTPResponse(status: status, headers: [], body: body, httpVersion: "2"))
        try promise(answer.message.utf8.count <= 512, "a message of \(answer.message.utf8.count) bytes")
        try promise(answer.message.utf8.allSatisfy { (0x20...0x7E).contains($0) }, "a message that is not plain ASCII")
        try promise(!answer.message.contains("eyJ"), "a message with what looks like a token")
        if status == 200 {
            try promise(answer.errorCode == nil && answer.message.isEmpty, "an error in an answer without one")
        } else if let code = answer.errorCode {
            let apple = try? JSONDecoder().decode(Code.self, from: Data(body))
            try promise(apple?.errorCode == code, "the code is \(code), and Foundation reads another")
        }
        _ = RequestFailure.answered(answer).disposition(
            after: AttemptHistory(),
            effects: NotificationHistory.errorEffects,
            now: FuzzedStore.now
        )
    }

    private struct Code: Decodable {
        let errorCode: Int64
    }
}
