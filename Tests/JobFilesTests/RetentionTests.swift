import JobFiles
import JobSyntax
import Testing

@Suite struct RetentionTests {
    private func complaint(_ retention: String) throws -> String {
        try JobFileText.complaint(JobFileText.usual + "retention: \(retention)\n")
    }

    @Test func `a job removes nothing unless it names a term`() throws {
        #expect(try JobFileText.load(JobFileText.usual).retention.parts.isEmpty)
        let job = try JobFileText.load(JobFileText.usual + "retention: {archive: 400d, sendAttempts: 48h}\n")
        #expect(job.retention.terms == [.archive: .seconds(400 * 86_400), .sendAttempts: .seconds(2 * 86_400)])
        #expect(job.retention.parts.map(\.part) == [.archive, .sendAttempts])
    }

    @Test(
        arguments: ["archive", "sendAttempts", "items", "receivedNotifications"],
        ["0d", "-5d", "23h", "36501d", "400", "400 days", "d", "1.5d", "${TERM}"]
    )
    func `JF22 a term of retention that is zero, negative, too long or without a unit is refused`(
        key: String,
        term: String
    ) throws {
        let complaint = try JobFileText.complaint(
            JobFileText.usual + "retention: {\(key): \"\(term)\"}\n",
            environment: ["TERM": "0d"]
        )
        #expect(complaint.hasPrefix("job.yaml:17:"), "\(complaint)")
        #expect(
            complaint.contains("retention.\(key)") && complaint.contains("it must be from 1d to 36500d"),
            "\(complaint)"
        )
    }

    @Test func `JF22 a number, another key, a list and an empty section of retention are refused`() throws {
        #expect(try complaint("{archive: 400}").contains("retention.archive is the number 400"))
        let unknown = try complaint("{archives: 400d}")
        #expect(unknown.hasPrefix("job.yaml:17:13: retention.archives is not a key"), "\(unknown)")
        #expect(unknown.contains("did you mean archive?"), "\(unknown)")
        for empty in ["{}", "[archive]", "400d", "~"] {
            let complaint = try complaint(empty)
            #expect(complaint.hasPrefix("job.yaml:17:") && complaint.contains("retention "), "\(complaint)")
        }
    }
}
