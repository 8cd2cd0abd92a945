import AppStoreModel
import Testing

struct ErrorPayloadTests {
    @Test
    func `Apple's body gives code and message`() throws {
        let body = Array(#"{"errorCode":4290000,"errorMessage":"Rate limit exceeded."}"#.utf8)
        let payload = try #require(ErrorPayload.decode(body))
        #expect(payload.code == 4_290_000)
        #expect(payload.message == "Rate limit exceeded.")
    }

    @Test(arguments: [#"{"errorCode":5000001}"#, #"{"errorCode":5000001,"errorMessage":null,"more":[]}"#])
    func `a missing message is empty`(_ text: String) {
        #expect(ErrorPayload.decode(Array(text.utf8))?.message == "")
    }

    @Test(arguments: [
        "", "<html>", "[]", "{}", #"{"errorCode":"4290000"}"#, #"{"errorCode":1.5}"#, #"{"errorCode":1,}"#,
    ])
    func `a body that is not Apple's gives nothing`(_ text: String) {
        #expect(ErrorPayload.decode(Array(text.utf8)) == nil)
    }

    @Test
    func `codes have Apple's names, and an undocumented one says so`() {
        #expect(AppleErrorCode.name(for: 4_000_017) == "PaginationTokenExpiredError")
        #expect(AppleErrorCode.name(for: 4_040_010) == "TransactionIdNotFoundError")
        #expect(AppleErrorCode.name(for: 4_009_999) == "undocumented error 4009999")
        #expect(AppleErrorCode(rawValue: 4_290_000) == .rateLimitExceeded)
    }
}
