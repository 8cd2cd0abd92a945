// swift-tools-version: 6.2
import PackageDescription

// The floors of the house: a target names only targets from floors below its own, and the build
// (`--explicit-target-dependency-import-check error` in .ci/run) refuses an import that is not named here.

let settings: [SwiftSetting] =
    [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        .strictMemorySafety(),
    ]
    // CI turns every warning into an error; a newer compiler's new warning never stops a user's build.
    + (Context.environment["STORELEDGER_STRICT"] == nil ? [] : [.treatAllWarnings(as: .error)])

func floor(_ name: String, _ dependencies: [Target.Dependency] = [], resources: [Resource] = []) -> Target {
    .target(name: name, dependencies: dependencies, resources: resources, swiftSettings: settings)
}

func tests(of name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(
        name: name + "Tests",
        dependencies: [.byName(name: name)] + dependencies,
        swiftSettings: settings
    )
}

let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let yams = Target.Dependency.product(name: "Yams", package: "Yams")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let hummingbird = Target.Dependency.product(name: "Hummingbird", package: "hummingbird")
let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
let serviceLifecycle = Target.Dependency.product(name: "ServiceLifecycle", package: "swift-service-lifecycle")

// The fuzzing library has to come with `-sanitize=fuzzer`, so only scripts/fuzz asks for the program that needs it.
let fuzzer: [Target] =
    Context.environment["STORELEDGER_FUZZ"] == nil
    ? []
    : [
        .systemLibrary(name: "CLibFuzzer", path: "Tests/Fuzz/CLibFuzzer"),
        .executableTarget(
            name: "fuzzer",
            dependencies: ["FuzzTargets", "CLibFuzzer"],
            path: "Tests/Fuzz/Fuzzer",
            swiftSettings: settings
        ),
    ]

let package = Package(
    name: "StoreLedger",
    products: [
        .executable(name: "storeledger", targets: ["storeledger"]),
        .executable(name: "appstore-simulator", targets: ["appstore-simulator"]),
    ],
    dependencies: [
        // Command lines: help, completions, validation.
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        // Job files: YAML is what operators write.
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.0"),
        // Logs: the ecosystem's interface.
        .package(url: "https://github.com/apple/swift-log", from: "1.14.0"),
        // The simulator's HTTP server: never write a server by hand.
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0", traits: []),
        // Hummingbird's own vocabulary, named because the simulator spells header fields and bodies with it.
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        // Signals and a graceful stop for the simulator; comes with Hummingbird.
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.0.0"),
    ],
    targets: [
        // 0  the ground
        .systemLibrary(name: "CLibCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CLibPQ", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
        .systemLibrary(name: "CLibCSV", providers: [.apt(["libcsv-dev"])]),

        // 1  the words
        floor("AppStoreModel"),
        floor("LedgerTables"),
        floor("Workers"),

        // 2  the tools
        floor("JobPlan", ["AppStoreModel", yams]),
        floor("HTTPTransport", ["Workers", "CLibCurl"]),
        floor("SignedData", ["AppStoreModel", "COpenSSL"]),
        floor("Postgres", ["LedgerTables", "Workers", "CLibPQ"]),
        floor("CSVFormat", ["CLibCSV"]),

        // 3  the stages
        floor("Crawl", ["AppStoreModel", "Workers", "JobPlan"]),
        floor("AppStoreAPI", ["AppStoreModel", "HTTPTransport", "SignedData"]),
        floor("Normalize", ["AppStoreModel", "LedgerTables", "SignedData", "Workers"]),
        floor(
            "Ledger",
            ["AppStoreModel", "LedgerTables", "Workers", "JobPlan", "SignedData", "Postgres", "CSVFormat"]
        ),

        // 4  the report
        // Its JavaScript and CSS are compiled into the executable (`PackageResources`). A resource bundle would be a folder
        // that has to be found at run time: scripts/install would have to copy it, and `Bundle` needs all of Foundation.
        floor(
            "Report",
            ["AppStoreModel", "LedgerTables", "Workers", "SignedData", "Postgres", "Ledger"],
            resources: [.embedInCode("Resources/report.css"), .embedInCode("Resources/report.js")]
        ),

        // 5  the rooms
        floor(
            "ExportPipeline",
            [
                "AppStoreModel", "LedgerTables", "Workers", "JobPlan", "HTTPTransport", "SignedData", "Postgres",
                "CSVFormat", "Crawl", "AppStoreAPI", "Normalize", "Ledger", "Report",
            ]
        ),
        floor(
            "AppStoreSimulator",
            ["AppStoreModel", "SignedData", "Workers", hummingbird, nioCore, httpTypes, serviceLifecycle, logging]
        ),

        // 6  the doors
        .executableTarget(
            name: "storeledger",
            dependencies: [
                "AppStoreModel", "Workers", "JobPlan", "Crawl", "Ledger", "ExportPipeline", argumentParser, logging,
            ],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "appstore-simulator",
            dependencies: ["AppStoreSimulator", argumentParser],
            swiftSettings: settings
        ),

        // One suite a target; `TestSupport` lends databases, loopback servers and a simulator to all of them.
        .target(
            name: "TestSupport",
            dependencies: ["AppStoreModel", "Workers", "SignedData", "Postgres", "LedgerTables"],
            path: "Tests/TestSupport",
            swiftSettings: settings
        ),
        tests(of: "AppStoreModel", []),
        tests(of: "Workers", []),
        tests(of: "JobPlan", ["AppStoreModel"]),
        tests(of: "HTTPTransport", ["CLibCurl"]),
        tests(of: "SignedData", ["AppStoreModel", "TestSupport"]),
        tests(of: "Postgres", ["LedgerTables", "TestSupport"]),
        tests(of: "CSVFormat", []),
        tests(of: "Crawl", ["AppStoreModel", "Workers", "JobPlan"]),
        tests(of: "AppStoreAPI", ["AppStoreModel", "HTTPTransport", "SignedData"]),
        tests(of: "Normalize", ["AppStoreModel", "LedgerTables", "SignedData", "TestSupport"]),
        tests(of: "Ledger", ["AppStoreModel", "LedgerTables", "JobPlan", "Postgres", "TestSupport"]),
        tests(of: "AppStoreSimulator", ["AppStoreModel", "SignedData"]),
        tests(of: "Report", ["AppStoreModel", "TestSupport"]),
        tests(of: "ExportPipeline", ["AppStoreModel", "LedgerTables", "Postgres", "Report", "TestSupport"]),
        // What the fuzzer feeds, and the test that feeds it every input that was kept.
        .target(
            name: "FuzzTargets",
            dependencies: [
                "AppStoreModel", "LedgerTables", "JobPlan", "HTTPTransport", "SignedData", "Postgres", "CSVFormat",
                "Crawl", "AppStoreAPI", "Normalize",
            ],
            path: "Tests/Fuzz/FuzzTargets",
            swiftSettings: settings
        ),
        .testTarget(
            name: "FuzzTargetsTests",
            dependencies: ["FuzzTargets"],
            path: "Tests/Fuzz/FuzzTargetsTests",
            swiftSettings: settings
        ),
        // Kills what is shipped, built with `-DFAILPOINTS`, until something breaks; scripts/crash-loop starts it.
        .executableTarget(
            name: "crash-loop",
            dependencies: ["LedgerTables", "Postgres", "TestSupport", argumentParser],
            path: "Tests/CrashLoop",
            swiftSettings: settings
        ),
        // Measures parts by themselves, in a release build; scripts/bench starts it.
        .executableTarget(
            name: "ledger-bench",
            dependencies: [
                "AppStoreModel", "LedgerTables", "SignedData", "Postgres", "Normalize", "Ledger", "Workers",
                "AppStoreSimulator", "TestSupport", argumentParser,
            ],
            path: "Tests/Benchmarks",
            swiftSettings: settings
        ),
        // The doors as they are shipped: naming the executables makes SwiftPM build them first.
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "AppStoreModel", "LedgerTables", "SignedData", "Postgres", "Workers", "TestSupport", "storeledger",
                "appstore-simulator",
            ],
            swiftSettings: settings
        ),
    ] + fuzzer
)
