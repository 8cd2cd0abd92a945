import AppStoreSimulator
import ArgumentParser
import Basics

@main
struct AppStoreSimulatorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "appstore-simulator",
        abstract: "Simulates Apple's App Store Server API on loopback.",
        discussion: """
            Generates customers and purchases from a seed, signs them with its own certificate authority, and answers
            these endpoints as Apple documents them: \(SimulatorConfiguration.endpointNames.joined(separator: ", ")).

            Example:
              appstore-simulator serve --directory /tmp/store --port 8080
            """,
        version: storeLedgerVersion,
        subcommands: [ServeCommand.self]
    )
}
