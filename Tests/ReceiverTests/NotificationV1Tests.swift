import StrictJSON
import Testing

@testable import Receiver

struct NotificationV1Tests {
    private func read(_ text: String) throws -> NotificationV1? {
        NotificationV1(try StrictJSON.parseObject(Array(text.utf8)))
    }

    @Test func `of a notification of version 1 only harmless members are kept`() throws {
        let found = try #require(
            try read(
                #"""
                {"notification_type":"CANCEL","password":"secret-word","environment":"PROD","bid":"com.example.game",
                 "auto_renew_status":"false","expiration_intent":1,"latest_receipt":"MIIreceipt","auto_renew_adam_id":"9",
                 "unified_receipt":{"latest_receipt":"MIIreceipt"}}
                """#
            )
        )
        #expect(
            found.redacted
                == #"{"notification_type":"CANCEL","environment":"PROD","bid":"com.example.game","#
                + #""auto_renew_status":"false","expiration_intent":1}"#
        )
        #expect(found.password == "secret-word")
    }

    @Test(
        arguments: [
            (
                #""original_transaction_id":"1","unified_receipt":{"latest_receipt_info":[{"original_transaction_id":"2"}]}"#,
                "1"
            ),
            (#""original_transaction_id":12"#, "12"),
            (
                #""unified_receipt":{"latest_receipt_info":[{"original_transaction_id":"2","purchase_date_ms":"5"},"#
                    + #"{"original_transaction_id":"3","purchase_date_ms":"7"}]}"#,
                "3"
            ),
            (#""unified_receipt":{"pending_renewal_info":[{"original_transaction_id":"4"}]}"#, "4"),
            (#""unified_receipt":{"latest_receipt_info":[{"original_transaction_id":"x; DROP"}]}"#, nil),
            (#""unified_receipt":[]"#, nil),
        ] as [(String, String?)]
    )
    func `the customer is named by the notification itself, or by the newest purchase of its receipt`(
        members: String,
        id: String?
    ) throws {
        #expect(try read("{\"notification_type\":\"CANCEL\",\(members)}")?.originalTransactionId == id)
    }

    @Test func `two notifications are the same if they differ in nothing but the password`() throws {
        let texts = [
            #""password":"a","bid":"x""#, #""password":"b","bid":"x""#, #""bid":"x""#, #""password":"a","bid":"y""#,
        ]
        let hashes = try texts.map { try read("{\"notification_type\":\"CANCEL\",\($0)}")?.contentSHA256 }
        #expect(hashes[0] == hashes[1] && hashes[1] == hashes[2] && hashes[2] != hashes[3])
    }

    @Test func `an object without a type is no notification`() throws {
        #expect(try read(#"{"password":"a"}"#) == nil)
        #expect(try read(#"{"notification_type":""}"#) == nil)
    }
}
