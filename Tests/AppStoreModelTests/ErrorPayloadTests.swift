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
}
