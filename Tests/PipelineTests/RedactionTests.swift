import FoundationEssentials
import Pipeline
import TestSupport
import Testing

/// T16: the net below the types that keep secrets.
struct RedactionTests {
    @Test(.slow)
    func `of 10,000 random messages with a secret in each, none shows it`() {
        var random = SeededRandom(seed: 20_261_122)
        func letters(_ alphabet: String, _ count: Int) -> String { random.text(of: alphabet, count) }
        let base64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
        let base64url = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
        var survivors: [String] = []
        for number in 0..<10_000 {
            let before = letters("abcdefgh :,;\"'()[]{}=\t", Int.random(in: 0...60, using: &random))
            let after = letters("abcdefgh ,()[]{}\n", Int.random(in: 0...60, using: &random))
            let secret: String
            let shown: String
            switch number % 5 {
            case 0:
                secret = letters(base64, 64)
                shown = "-----BEGIN PRIVATE KEY-----\n\(secret)\n\(letters(base64, 12))==\n-----END PRIVATE KEY-----"
            case 2:
                secret = letters(base64url, 80)
                shown = "Bearer eyJ\(letters(base64url, 60)).eyJ\(letters(base64url, 90)).\(secret)"
            case 3:
                secret = letters(base64url, 86)
                shown = "eyJ\(letters(base64url, 3_000)).eyJ\(letters(base64url, 900)).\(secret)"
            case 1:
                secret = letters("abcXYZ0123456789!$*@/", Int.random(in: 8...30, using: &random))
                shown = "postgresql://loader:\(secret)@db.example.com:5432/ledger?sslmode=verify-full"
            default:
                secret = letters("abcXYZ0123456789!$* ", Int.random(in: 8...30, using: &random)) + "Z"
                shown = "host=db.example.com password='\(secret)' dbname=ledger"
            }
            if redacted("\(before) \(shown) \(after)").contains(secret) { survivors.append(shown) }
        }
        #expect(survivors.isEmpty)
    }

    @Test(arguments: [
        "starting run 4: 101 items, 50 IDs (0 duplicates dropped), 0 done",
        "CSV /srv/storeledger/.demo/csv: transactions.csv (3000 rows), refunds.csv (42 rows)",
        "cannot write /tmp/storeledger-test.8f3k/out/notifications.csv: No space left on device",
        "the item 1792642587423..1792713600000#2c59cfd7 of 7e3fb20b-4cdb-47cc-936d-99d65f608138",
        "root 73400a4f7406dec78db5c960942a3583203ef262751d409318a8e2d8a3321a06 is trusted",
        "http://127.0.0.1:8080 accepts the key; https://api.storekit.itunes.apple.com/inApps/v2/history",
        "APP_STORE_KEY password for user \"loader\" is wrong; 12:30:00 user@host",
    ])
    func `what is no secret stays as it is`(text: String) {
        #expect(redacted(text) == text)
    }
}
