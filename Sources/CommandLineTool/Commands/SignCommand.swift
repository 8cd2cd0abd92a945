import ArgumentParser
import Basics
import FoundationEssentials
import JobFiles
import Pipeline
import Publish
import SignedData
import Signing

struct SignCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign",
        abstract: "Sign a file of requests that an app passes to StoreKit; offline.",
        discussion: """
            KIND is what the file has:

              advanced-commerce               JSON Lines, one request a line
              promotional-offer               CSV: product_id, offer_identifier,
                                              transaction_id
              introductory-offer-eligibility  CSV: product_id, allow_introductory_offer,
                                              transaction_id
              promotional-offer-signature     CSV: product_id, offer_identifier,
                                              application_username; the older form

            The output is the input with a column, or in JSON a member, signature. Every
            row is checked by Apple's rules first; if one breaks a rule, nothing is
            written. Of the job file only app and appStore are read.

              storeledger sign jobs/nightly-sync.yaml promotional-offer \\
                --input win-back.csv --output win-back-signed.csv
            """
    )

    @OptionGroup var job: JobArgument

    @Argument(help: ArgumentHelp("What is signed.", valueName: "KIND"))
    var kind: SignatureKind

    @Option(help: ArgumentHelp("The requests.", valueName: "FILE"))
    var input: String

    @Option(
        help: ArgumentHelp("The signed requests; replaces an existing file when it is complete.", valueName: "FILE")
    )
    var output: String

    @Flag(help: "Sign members of Advanced Commerce requests that Apple does not document, with a warning.")
    var allowUnknown = false

    func validate() throws {
        guard !allowUnknown || kind == .advancedCommerce else {
            throw ValidationError("--allow-unknown is only for \(SignatureKind.advancedCommerce.rawValue).")
        }
        let files = [("--input", input), ("JOB", job.path)]
        for (name, path) in files where Self.place(path) == Self.place(output) {
            throw ValidationError("--output is the file of \(name); name another one.")
        }
    }

    func run() async throws {
        try await perform(job: job.path) {
            let environment = ProcessInfo.processInfo.environment
            let files = try AcceptedJobs.signer.loadEach(path: job.path, environment: environment)
            let file = try AppOption.one(job.app, from: files, in: job.path) { $0.app.bundleId }
            guard file.appStore.privateKey.path.map(Self.place) != Self.place(output) else {
                throw ValidationError("--output is the private key file of JOB; name another one.")
            }
            let key = RequestKey(
                key: try SigningKey.load(file.appStore.privateKey),
                keyId: file.appStore.keyId,
                issuerId: file.appStore.issuerId,
                bundleId: file.app.bundleId
            )
            let signing = RequestSigning(
                kind,
                key: key,
                width: ProcessInfo.processInfo.activeProcessorCount,
                allowsUnknown: allowUnknown
            )
            var warnings: [String] = []
            let count = try await publishParts(at: output) { write in
                try await signing.sign(input, warn: { warnings.append($0) }, write: write)
            }
            for warning in warnings { Console.message("storeledger: warning: \(input): \(warning)") }
            Console.result("\(output): \(counted(count, "signature")) of \(file.app.bundleId)")
        }
    }

    private static func place(_ path: String) -> String {
        URL(filePath: path).standardizedFileURL.resolvingSymlinksInPath().path
    }
}

extension SignatureKind: ExpressibleByArgument {}
