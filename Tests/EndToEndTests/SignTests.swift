import FoundationEssentials
import SignedData
import TestSupport
import Testing

/// `storeledger sign` as users run it: without a database, without a network.
struct SignTests {
    private static let reference = #""requestInfo":{"requestReferenceId":"f55df048-4cd8-4261-b404-b6f813ff70e5"}"#

    /// The folder with a key and a job file.
    private struct Scene {
        static let keyId = "2X9R4HXF34"
        static let issuerId = "57246542-96fe-1a63-e053-0824d011072a"
        static let bundleId = "com.example.game"
        static let job = """
            version: 1
            name: win-back
            app: {bundleId: \(bundleId), appAppleId: 1234567890, environment: Production}
            appStore: {issuerId: \(issuerId), keyId: \(keyId), privateKeyFile: SubscriptionKey.p8}
            streams: {transactionHistory: {}}
            output: {postgres: {url: "${DATABASE_URL}"}}

            """

        let directory: String

        static func with(_ body: (Scene) async throws -> Void) async throws {
            try await withTemporaryDirectory { directory in
                let scene = Scene(directory: directory)
                try scene.write(SigningKey.generate().pem.reveal(), to: "SubscriptionKey.p8")
                try FileManager.default.setAttributes(
                    [.posixPermissions: 0o600],
                    ofItemAtPath: directory + "/SubscriptionKey.p8"
                )
                try scene.write(job, to: "job.yaml")
                try await body(scene)
            }
        }

        func write(_ text: String, to name: String) throws {
            try Data(text.utf8).write(to: URL(filePath: directory + "/" + name))
        }

        func read(_ name: String) throws -> String {
            try String(contentsOfFile: directory + "/" + name, encoding: .utf8)
        }

        func sign(
            _ kind: String,
            _ input: String,
            to output: String,
            _ environment: [String: String] = [:],
            options: [String] = []
        ) async throws -> (code: Int32, output: String, errors: String) {
            let files = ["--input", directory + "/" + input, "--output", directory + "/" + output]
            let arguments = ["sign", directory + "/job.yaml", kind] + files + options
            return try await withChildProcess(Executables.storeledger, arguments, environment: environment) { process in
                let code = await process.wait()
                return (code, process.output, process.errors.replacing(directory + "/", with: ""))
            }
        }
    }

    @Test(.enabled(Comment(rawValue: AppleLibrary.missing)) { await AppleLibrary.isInstalled() })
    func `Apple's Python library verifies a thousand win-back offers and every other kind, and would sign the same`()
        async throws
    {
        try await Scene.with { scene in
            let offers = (0..<1_000).map { "pro.monthly,win.back,\($0 % 3 == 0 ? "" : "2000000\($0)")\n" }.joined()
            try scene.write("product_id,offer_identifier,transaction_id\n" + offers, to: "offers.csv")
            try scene.write(
                "product_id,allow_introductory_offer,transaction_id\npro,true,1\n\"pró\"\"f\",false,2\n",
                to: "eligibility.csv"
            )
            try scene.write(
                "product_id,offer_identifier,application_username\npro,win,\npro,win,ÜNAL-4F\n",
                to: "older.csv"
            )
            try scene.write(Self.requests, to: "requests.jsonl")
            for (kind, input, output, count) in [
                ("promotional-offer", "offers.csv", "promotional-offer.csv", "1000 signatures"),
                (
                    "introductory-offer-eligibility", "eligibility.csv", "introductory-offer-eligibility.csv",
                    "2 signatures"
                ),
                ("promotional-offer-signature", "older.csv", "promotional-offer-signature.csv", "2 signatures"),
                ("advanced-commerce", "requests.jsonl", "advanced-commerce.jsonl", "4 signatures"),
            ] {
                let found = try await scene.sign(kind, input, to: output)
                #expect(found.code == 0 && found.errors.isEmpty, "\(found.errors)")
                #expect(found.output == "\(scene.directory)/\(output): \(count) of \(Scene.bundleId)\n")
            }
            #expect(
                try await AppleLibrary.signatures(
                    in: scene.directory,
                    Scene.keyId,
                    Scene.issuerId,
                    Scene.bundleId
                ) == [
                    "promotional-offer": 1_000, "introductory-offer-eligibility": 2, "promotional-offer-signature": 2,
                    "advanced-commerce": 4,
                ]
            )
        }
    }

    /// One request of each operation.
    private static let requests = """
        {"operation":"CREATE_ONE_TIME_CHARGE","version":"1",\(reference),"currency":"USD","taxCode":"C003-00-2","storefront":"USA","item":{"SKU":"BOOK","displayName":"Sherlock Holmes – é","description":"5th Edition","price":4990}}
        {"operation":"CREATE_SUBSCRIPTION","version":"1",\(reference),"currency":"USD","taxCode":"C003-00-1","descriptors":{"displayName":"Streaming Pass","description":"Several items"},"period":"P1M","items":[{"SKU":"SPORTS","displayName":"Live Sports","description":"Sports events","price":40000},{"SKU":"CARTOONS","displayName":"Cartoons","description":"Animated series","price":11000,"offer":{"price":2990,"period":"P1M","periodCount":3,"reason":"ACQUISITION"}}]}
        {"operation":"MODIFY_SUBSCRIPTION","version":"1","transactionId":"12345",\(reference),"currency":"USD","storefront":"USA","descriptors":{"effective":"IMMEDIATELY","displayName":"Game Stream"},"periodChange":{"effective":"IMMEDIATELY","period":"P1Y"},"retainBillingCycle":false,"changeItems":[{"effective":"IMMEDIATELY","currentSKU":"GOLD_1M","SKU":"PLATINUM_1Y","price":99990,"displayName":"Platinum Tier","description":"Access & chat","reason":"UPGRADE"}],"addItems":[{"SKU":"NEWS","displayName":"News","description":"News channels","price":4990,"proratedPrice":100}],"removeItems":[{"SKU":"SPORTS"}]}
        {"operation":"REACTIVATE_SUBSCRIPTION","version":"1","transactionId":"12345",\(reference),"items":[{"SKU":"SPORTS"}]}

        """

    @Test func `SG3 SG11 a refused file has an exit code, and the output of an earlier command stays`() async throws {
        try await Scene.with { scene in
            try scene.write("earlier", to: "signed.jsonl")
            try scene.write(
                Self.requests.replacing("\"NEWS\"", with: "\"\(String(repeating: "S", count: 129))\""),
                to: "requests.jsonl"
            )
            var found = try await scene.sign("advanced-commerce", "requests.jsonl", to: "signed.jsonl")
            #expect(found.code == 65 && found.output.isEmpty)
            #expect(
                found.errors == """
                    storeledger: requests.jsonl: 1 of 4 rows cannot be signed, so nothing was signed
                    requests.jsonl:3: SKULengthExceededError: addItems[0].SKU has 129 characters; Apple takes at most 128

                    """
            )
            found = try await scene.sign("advanced-commerce", "missing.jsonl", to: "signed.jsonl")
            #expect(found.code == 66)
            #expect(found.errors == "storeledger: missing.jsonl: there is no such file. Nothing was signed\n")
            #expect(try scene.read("signed.jsonl") == "earlier")
            let files = try FileManager.default.contentsOfDirectory(atPath: scene.directory)
            #expect(files.sorted() == ["SubscriptionKey.p8", "job.yaml", "requests.jsonl", "signed.jsonl"])
        }
    }

    @Test func `a key in a variable signs as its file does`() async throws {
        try await Scene.with { scene in
            let key = try scene.read("SubscriptionKey.p8")
            try FileManager.default.removeItem(atPath: scene.directory + "/SubscriptionKey.p8")
            let job = Scene.job.replacing("privateKeyFile: SubscriptionKey.p8", with: "privateKey: \"${KEY}\"")
            try scene.write(job, to: "job.yaml")
            try scene.write("product_id,offer_identifier\np,o\n", to: "offers.csv")
            let found = try await scene.sign("promotional-offer", "offers.csv", to: "signed.csv", ["KEY": key])
            #expect(found.code == 0, "\(found.errors)")
            #expect(try scene.read("signed.csv").hasPrefix("product_id,offer_identifier,"))
        }
    }

    @Test func `SG15 unknown members are signed with a warning in Advanced Commerce requests only`() async throws {
        try await Scene.with { scene in
            let start = #"{"operation":"REACTIVATE_SUBSCRIPTION","version":"1","transactionId":"1",\#(Self.reference)"#
            try scene.write(start + #","colour":1}"#, to: "requests.jsonl")
            let refused = try await scene.sign("advanced-commerce", "requests.jsonl", to: "signed.jsonl")
            #expect(refused.code == 65 && refused.errors.contains("colour is not a member"), "\(refused.errors)")
            #expect(refused.errors.contains("--allow-unknown"))
            let signed = try await scene.sign(
                "advanced-commerce",
                "requests.jsonl",
                to: "signed.jsonl",
                options: ["--allow-unknown"]
            )
            #expect(signed.code == 0 && signed.output.contains("1 signature"), "\(signed.errors)")
            #expect(signed.errors.contains("warning: requests.jsonl: colour is not a member"), "\(signed.errors)")
            try scene.write("product_id,offer_identifier\np,o\n", to: "offers.csv")
            let other = try await scene.sign(
                "promotional-offer",
                "offers.csv",
                to: "signed.csv",
                options: ["--allow-unknown"]
            )
            #expect(other.code == 64 && other.errors.contains("only for advanced-commerce"), "\(other.errors)")
        }
    }

    @Test func `SG13 an output in the place of the input, the job file or the key is a usage error`() async throws {
        try await Scene.with { scene in
            let offers = "product_id,offer_identifier\np,o\n"
            try scene.write(offers, to: "offers.csv")
            for (output, name) in [
                ("./offers.csv", "--input"), ("job.yaml", "JOB"), ("SubscriptionKey.p8", "private key"),
            ] {
                let found = try await scene.sign("promotional-offer", "offers.csv", to: output)
                #expect(found.code == 64 && found.errors.contains(name), "\(found.errors)")
            }
            #expect(try scene.read("offers.csv") == offers && scene.read("job.yaml") == Scene.job)
            #expect(try scene.read("SubscriptionKey.p8").hasPrefix("-----BEGIN PRIVATE KEY-----"))
        }
    }
}
