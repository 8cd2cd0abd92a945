import JobSyntax
import Testing

@testable import JobFiles

/// Job files as `sign` reads them.
struct SignerJobTests {
    private static let head = """
        version: 1
        name: signer
        app: {bundleId: com.example.game, appAppleId: 1234567890, environment: Production}
        appStore: {issuerId: 57246542-96fe-1a63-e053-0824d011072a, keyId: 2X9R4HXF34, privateKeyFile: SubscriptionKey.p8}

        """

    private func parse(_ text: String) throws -> SignerJob {
        try AcceptedJobs.signer.parse(text, path: "/etc/jobs/signer.yaml", environment: [:])
    }

    @Test func `a job with only app and appStore is enough`() throws {
        let job = try parse(Self.head)
        #expect(job.app.bundleId == "com.example.game")
        #expect(job.appStore.keyId == "2X9R4HXF34")
        #expect(job.appStore.privateKey.path == "/etc/jobs/SubscriptionKey.p8")
    }

    @Test func `other sections are not read, so their variables need not be set`() throws {
        let rest =
            "streams: {transactionHistory: {}}\noutput: {postgres: {url: \"${DATABASE_URL}\"}}\nunknown: ${ALSO_UNSET}\n"
        #expect(try parse(Self.head + rest) == parse(Self.head))
    }

    @Test func `a problem of its own sections is reported with line and key`() throws {
        do {
            _ = try parse(Self.head.replacing("2X9R4HXF34", with: "2X-9"))
            Issue.record("a wrong key ID was accepted")
        } catch let error as JobFileError {
            #expect(error.problems.map(\.keyPath) == ["appStore.keyId"])
            #expect(error.problems.first?.line == 4)
        }
    }
}
