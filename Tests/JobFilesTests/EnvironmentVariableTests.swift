import AppStoreModel
import JobFiles
import JobSyntax
import Testing

@Suite struct EnvironmentVariableTests {
    @Test func `an unset variable is named with its line and key`() throws {
        #expect(
            try JobFileText.complaint(replacing: "keyId: 2X9R4HXF34", with: "keyId: ${APPSTORE_KEY_ID}") == """
                job.yaml:9:10: appStore.keyId needs the environment variable APPSTORE_KEY_ID, which is not set; \
                set it, or write ${APPSTORE_KEY_ID:-text} with a default text
                """
        )
    }

    @Test func `an unset variable is the only problem of the list or the mapping that it is in`() throws {
        let head = JobFileText.usual.split(separator: "transactionIds:")[0]
        let text = """
            \(head)action:
              changeSubscriptionPrice:
                currency: "${PRICE_CURRENCY}"
                items: [{SKU: gold, price: ${PRICE_MILLIUNITS}}]
            input: {query: "SELECT '${ID}' AS transaction_id"}
            output:
              postgres: {url: postgresql:///ledger}

            """
        let error = #expect(throws: JobFileError.self) {
            _ = try AcceptedJobs.action.parse(text, path: "job.yaml", environment: [:])
        }
        let lines = (error?.description ?? "").split(separator: "\n")
        #expect(lines.count == 3 && lines.allSatisfy { $0.contains(" needs the environment variable ") }, "\(lines)")
    }

    @Test func `a variable's value never becomes YAML`() throws {
        let complaint = try JobFileText.complaint(
            replacing: "nightly-sync",
            with: "${NAME}",
            environment: ["NAME": "a\nlimits: {share: 1}"]
        )
        #expect(complaint.hasPrefix("job.yaml:2:7: name is the value of ${NAME}; it must be"))
    }

    @Test func `no message shows a variable's value`() throws {
        let complaint = try JobFileText.complaint(
            replacing: "2X9R4HXF34",
            with: "${KEY}",
            environment: ["KEY": "not a key ID but geheim"]
        )
        #expect(complaint.contains("appStore.keyId is the value of ${KEY}; it must be the key ID"))
        #expect(!complaint.contains("geheim"))
    }

    @Test(arguments: [
        ("${A}", ["A": "text"], "text"),
        ("${A:-other}", ["A": "text"], "text"),
        ("${A:-other}", ["A": ""], "other"),
        ("${A:-other}", [:], "other"),
        ("x${A}y${B:-z}", ["A": "1"], "x1yz"),
        ("$A costs $5 or $", [:], "$A costs $5 or $"),
        ("$${A}", [:], "${A}"),
        ("${A}", ["A": "${B}"], "${B}"),
    ])
    func `variables, defaults and escapes`(written: String, environment: [String: String], meant: String) throws {
        let job = try JobFileText.load(
            replacing: "list: [\"2000000123456789\"]",
            with: "csv: {path: /ids.csv, column: '\(written)'}",
            environment: environment
        )
        #expect(job.transactionIds?.list == .csv(path: "/ids.csv", column: meant))
    }

    @Test(arguments: ["${", "${}", "${1A}", "${A", "${A-b}", "${A:+b}", "${Ä}"])
    func `a reference that is none is refused`(written: String) throws {
        let complaint = try JobFileText.complaint(replacing: "name: nightly-sync", with: "name: '\(written)'")
        #expect(complaint.contains("name has a ${ that names no variable; write ${NAME}"), "\(complaint)")
    }

    @Test(arguments: [
        "{url: ${URL}, schema: ${S}}", "{url: ${URL:-x=[a,b]{}, schema: ${S}}", "{schema: ${S}, url: ${URL}}",
    ])
    func `a reference needs no quotes within braces`(written: String) throws {
        let environment = ["URL": "host={a},b dbname=x", "S": "mine"]
        let job = try JobFileText.load(
            replacing: "{url: postgresql:///ledger}",
            with: written,
            environment: environment
        )
        #expect(job.output.postgres.url.reveal() == "host={a},b dbname=x" && job.output.postgres.schema == "mine")
    }

    @Test func `a stand-in for a brace is refused in the file and is only text in a variable`() throws {
        #expect(
            try JobFileText.complaint(replacing: "nightly", with: "\u{10FF7B}").contains("has a private-use character")
        )
        let job = try JobFileText.load(
            replacing: "postgresql:///ledger",
            with: "${U}",
            environment: ["U": "host=\u{10FF7B}"]
        )
        #expect(job.output.postgres.url.reveal() == "host=\u{10FF7B}")
    }

    @Test func `a plain variable can be a number, a quoted one is a text`() throws {
        let environment = ["ID": "77"]
        let plain = try JobFileText.load(replacing: "1234567890", with: "${ID}", environment: environment)
        #expect(plain.app.appAppleId == 77)
        let quoted = try JobFileText.complaint(replacing: "1234567890", with: "\"${ID}\"", environment: environment)
        #expect(quoted.contains("app.appAppleId is the value of ${ID}; it must be the app's Apple ID"))
    }

    @Test func `an optional key or list entry that is only an empty variable is left out`() throws {
        let text = JobFileText.usual.replacing(
            "keys/SubscriptionKey.p8",
            with: "k\n  baseURL: ${B:-}\n  trustedRoots: [\"${R:-}\"]"
        )
        let job = try JobFileText.load(text + "limits:\n  share: ${S:-}\n")
        #expect(job.appStore.baseURL == AppStoreEnvironment.production.baseURL)
        #expect(job.appStore.trustedRoots.isEmpty && job.limits.share == 0.5)
    }

    @Test func `a required key whose variable is empty says so`() throws {
        let complaint = try JobFileText.complaint(replacing: "2X9R4HXF34", with: "${KEY}", environment: ["KEY": ""])
        #expect(complaint.contains("appStore.keyId is empty, because ${KEY} is; it must be the key ID"))
    }

    @Test func `an ID list of empty variables is empty`() throws {
        let complaint = try JobFileText.complaint(
            replacing: "\"2000000123456789\"",
            with: "\"${ID}\"",
            environment: ["ID": ""]
        )
        #expect(complaint.contains("transactionIds.list is empty; it must be a transaction ID"))
    }
}
