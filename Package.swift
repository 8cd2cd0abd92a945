// swift-tools-version: 6.2
import PackageDescription

// The targets are in levels: a target depends only on targets of lower levels. The build refuses an import that is not
// listed here (`--explicit-target-dependency-import-check error` in .ci/run).

let settings: [SwiftSetting] =
    [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        .strictMemorySafety(),
    ]
    // CI turns every warning into an error. Users do not, because a newer compiler can have new warnings.
    + (Context.environment["STORELEDGER_STRICT"] == nil ? [] : [.treatAllWarnings(as: .error)])

// CI optimizes what its tests run for minutes, in a build that is not optimized otherwise (scripts/lib/build.sh). The fuzzer is
// built with the options that scripts/fuzz passes.
let isOptimized = Context.environment["STORELEDGER_OPTIMIZE"] != nil && Context.environment["STORELEDGER_FUZZ"] == nil
// `-O` alone would have no effect, because SwiftPM passes the `-Onone` of the command line after it. What follows `-Xfrontend` is passed
// to the compiler last.
let optimized: [SwiftSetting] = settings + (isOptimized ? [.unsafeFlags(["-Xfrontend", "-O"])] : [])
let optimizedModules: Set = [
    "StrictJSON", "Basics", "AppStoreModel", "CSVFormat", "ParquetFormat", "Postgres",
    "Hashing", "SignedData", "RateLimit", "Normalize", "Ledger", "Migrations",
    "AppStoreSimulator",
]

func module(_ name: String, _ dependencies: [Target.Dependency] = [], resources: [Resource] = []) -> Target {
    .target(
        name: name,
        dependencies: dependencies,
        resources: resources,
        swiftSettings: optimizedModules.contains(name) ? optimized : settings
    )
}

func tests(of name: String, _ dependencies: [Target.Dependency], _ settings: [SwiftSetting] = settings) -> Target {
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
let hummingbirdCore = Target.Dependency.product(name: "HummingbirdCore", package: "hummingbird")
let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let nioEmbedded = Target.Dependency.product(name: "NIOEmbedded", package: "swift-nio")
let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
let serviceLifecycle = Target.Dependency.product(name: "ServiceLifecycle", package: "swift-service-lifecycle")

// The fuzzer links only with `-sanitize=fuzzer`, so only scripts/fuzz builds it.
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
    // Exact, so that every checkout builds the same; scripts/sbom lists what they depend on, too.
    dependencies: [
        // Command lines: help, completions, validation.
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        // Job files in YAML.
        .package(url: "https://github.com/jpsim/Yams", exact: "6.2.2"),
        // Logs: the common interface of Swift libraries.
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
        // The HTTP server of the receiver and of the simulator.
        .package(url: "https://github.com/hummingbird-project/hummingbird", exact: "2.28.1", traits: []),
        // Header fields and bodies in Hummingbird's interface. Both use them directly.
        .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
        .package(url: "https://github.com/apple/swift-http-types", exact: "1.8.0"),
        // Graceful shutdown of both; Hummingbird depends on it anyway.
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", exact: "2.13.0"),
    ],
    targets: [
        // Level 0: C libraries
        .systemLibrary(name: "CLibCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CLibPQ", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
        .systemLibrary(name: "CLibCSV", providers: [.apt(["libcsv-dev"])]),
        // Compresses Parquet files. Every reader of Parquet reads Zstandard.
        .systemLibrary(name: "CZstd", pkgConfig: "libzstd", providers: [.apt(["libzstd-dev"])]),
        // The platform's own C library, and what Linux and Darwin do differently.
        module("Platform"),

        // Level 1: types and helpers
        module("StrictJSON"),
        module("Basics", ["Platform"]),
        module("Hashing", ["COpenSSL"]),

        // Level 2: Apple's types, and one protocol each
        module("AppStoreModel", ["StrictJSON"]),
        module("CSVFormat", ["Platform", "Basics", "CLibCSV"]),
        // No Swift library that writes Parquet builds on Linux without a C++ library of 200 MB, so this one writes flat schemas.
        module("ParquetFormat", ["Platform", "Basics", "CZstd"]),
        module("HTTPTransport", ["Platform", "Basics", "CLibCurl"]),
        module("Postgres", ["Platform", "Basics", "CLibPQ"], resources: [.embedInCode("SQL")]),

        // Level 3: the ledger's tables, signatures, and the text of job files
        module("LedgerSchema", ["Postgres"]),
        module("SignedData", ["AppStoreModel", "StrictJSON", "Platform", "Basics", "Hashing", "COpenSSL"]),
        // Sections, problems, dates and environment variables of a job file; knows no job.
        module("JobSyntax", ["AppStoreModel", "StrictJSON", "Platform", "Basics", yams]),

        // Amazon S3's interface.
        module("ObjectStorage", ["Platform", "Basics", "Hashing", "HTTPTransport"]),

        // Level 4: Apple's streams and hourly limits, and what needs neither
        module("Streams", ["AppStoreModel", "StrictJSON", "LedgerSchema", "JobSyntax"]),
        module("RateLimit", ["AppStoreModel", "LedgerSchema", "Basics", "Postgres"], resources: [.embedInCode("SQL")]),
        module("AppStoreAPI", ["AppStoreModel", "Basics", "HTTPTransport", "SignedData"]),
        // `sign`: files of requests that an app passes to StoreKit.
        module("Signing", ["AppStoreModel", "StrictJSON", "Basics", "SignedData", "CSVFormat"]),
        module(
            "Normalize",
            ["AppStoreModel", "StrictJSON", "LedgerSchema", "Basics", "Hashing", "SignedData", "Postgres"]
        ),

        // Level 5: Apple's calls that change something, and the loop of a run
        module("ActionKinds", ["AppStoreModel", "StrictJSON", "Basics", "JobSyntax", "Streams"]),
        module("Crawl", ["AppStoreModel", "Basics", "Streams", "RateLimit"]),

        // Level 6: job files
        module("JobFiles", ["AppStoreModel", "LedgerSchema", "Basics", "JobSyntax", "Streams", "ActionKinds"]),

        // Level 7: the ledger
        module(
            "Ledger",
            [
                "AppStoreModel", "StrictJSON", "LedgerSchema", "Platform", "Basics", "Hashing", "SignedData",
                "Postgres", "JobSyntax", "Streams", "RateLimit", "JobFiles",
            ],
            resources: [.embedInCode("SQL")]
        ),

        // Level 8: what is done with a ledger
        module(
            "Migrations",
            ["Platform", "Basics", "Hashing", "Postgres", "Ledger"],
            resources: [.embedInCode("SQL")]
        ),
        module(
            "Status",
            ["AppStoreModel", "LedgerSchema", "Basics", "Postgres", "Streams", "JobFiles", "Ledger"],
            resources: [.embedInCode("SQL")]
        ),
        // Notifications that the receiver has stored, and their comparison with Apple's history.
        module(
            "Inbox",
            ["AppStoreModel", "StrictJSON", "LedgerSchema", "Basics", "Postgres", "Streams", "Ledger"],
            resources: [.embedInCode("SQL")]
        ),
        // What a run will do.
        module(
            "Planning",
            [
                "AppStoreModel", "LedgerSchema", "Basics", "Hashing", "SignedData", "Postgres", "CSVFormat",
                "JobSyntax",
                "Streams", "JobFiles", "Ledger",
            ],
            resources: [.embedInCode("SQL")]
        ),
        module(
            "Actions",
            [
                "AppStoreModel", "StrictJSON", "LedgerSchema", "Basics", "HTTPTransport", "Hashing", "Postgres",
                "CSVFormat", "JobSyntax", "Streams", "RateLimit", "AppStoreAPI", "Normalize", "ActionKinds",
                "Crawl", "JobFiles", "Ledger",
            ],
            resources: [.embedInCode("SQL")]
        ),
        module(
            "Erasure",
            ["StrictJSON", "LedgerSchema", "Basics", "Postgres", "Ledger"],
            resources: [.embedInCode("SQL")]
        ),
        module(
            "Publish",
            [
                "LedgerSchema", "Platform", "Basics", "Hashing", "Postgres", "CSVFormat", "ParquetFormat",
                "ObjectStorage", "JobFiles", "Ledger",
            ],
            resources: [.embedInCode("SQL")]
        ),
        // `rates`: what currencies are worth, from files.
        module(
            "ExchangeRates",
            ["Basics", "CSVFormat", "Postgres", "Ledger"],
            resources: [.embedInCode("SQL")]
        ),

        // Level 9: what reads or fills a part of the ledger
        // `receive`: an HTTP server that stores notifications, and makes records of them.
        module(
            "Receiver",
            [
                "AppStoreModel", "StrictJSON", "LedgerSchema", "Basics", "HTTPTransport", "Hashing", "SignedData",
                "Postgres", "RateLimit", "Normalize", "JobFiles", "Ledger", "Inbox", hummingbird, hummingbirdCore,
                nioCore,
                httpTypes, serviceLifecycle, logging,
            ]
        ),
        // JavaScript and CSS are compiled into the executable (`PackageResources`). A resource bundle would be a folder that has
        // to be found at run time: scripts/install would have to copy it, and `Bundle` needs all of Foundation.
        module(
            "Report",
            ["AppStoreModel", "StrictJSON", "Basics", "Hashing", "Postgres", "Ledger", "Status"],
            resources: [
                .embedInCode("Resources/report.css"), .embedInCode("Resources/report.js"), .embedInCode("SQL"),
            ]
        ),

        // Level 10: the pipeline and the simulator
        module(
            "Pipeline",
            [
                "AppStoreModel", "LedgerSchema", "Basics", "HTTPTransport", "Hashing", "SignedData", "Postgres",
                "ObjectStorage", "JobSyntax", "Streams", "RateLimit", "AppStoreAPI", "Normalize", "Crawl", "JobFiles",
                "Ledger", "Migrations", "Status", "Planning", "ActionKinds", "Actions", "Publish",
            ]
        ),
        module(
            "AppStoreSimulator",
            [
                "AppStoreModel", "StrictJSON", "Platform", "Basics", "HTTPTransport", "Hashing", "SignedData",
                hummingbird, nioCore, httpTypes, serviceLifecycle, logging,
            ]
        ),

        // Level 11: the commands
        module(
            "CommandLineTool",
            [
                "AppStoreModel", "StrictJSON", "LedgerSchema", "Platform", "Basics", "SignedData", "JobSyntax",
                "Streams", "RateLimit", "Signing", "Normalize", "ActionKinds", "Crawl", "JobFiles", "Ledger",
                "Migrations", "Status", "Inbox", "Planning", "Actions", "Erasure", "ExchangeRates", "Publish",
                "Receiver", "Report",
                "Pipeline", argumentParser, logging,
            ]
        ),

        // Level 12: the executables
        .executableTarget(name: "storeledger", dependencies: ["CommandLineTool"], swiftSettings: settings),
        .executableTarget(
            name: "appstore-simulator",
            dependencies: ["AppStoreSimulator", "Platform", "Basics", argumentParser],
            swiftSettings: settings
        ),

        // One test target per target, with two exceptions. JobFilesTests also tests JobSyntax, Streams and ActionKinds, because their
        // tests read job files. LedgerTests also tests Migrations, Status, Inbox, Erasure, ExchangeRates, Publish and the SQL of
        // Actions, because their tests need its support.
        // `TestSupport` provides databases, loopback servers and a simulator to all of them.
        .target(
            name: "TestSupport",
            dependencies: ["AppStoreModel", "Basics", "Hashing", "Postgres", "RateLimit"],
            path: "Tests/TestSupport",
            swiftSettings: optimized
        ),
        tests(of: "StrictJSON", []),
        tests(of: "AppStoreModel", ["StrictJSON"]),
        tests(of: "Basics", []),
        tests(of: "JobFiles", ["AppStoreModel", "StrictJSON", "Basics", "JobSyntax", "Streams", "ActionKinds"]),
        tests(of: "HTTPTransport", ["CLibCurl"]),
        tests(of: "Hashing", []),
        tests(of: "ObjectStorage", ["Basics", "HTTPTransport"]),
        tests(of: "SignedData", ["AppStoreModel", "StrictJSON", "Basics", "Hashing", "TestSupport"]),
        tests(of: "Postgres", ["TestSupport"]),
        tests(of: "CSVFormat", []),
        tests(of: "ParquetFormat", ["TestSupport"]),
        // Its simulated fleets make millions of grants.
        tests(of: "RateLimit", ["AppStoreModel", "Basics", "Streams", "TestSupport"], optimized),
        tests(of: "Crawl", ["AppStoreModel", "Basics", "Streams", "RateLimit", "TestSupport"]),
        tests(of: "AppStoreAPI", ["AppStoreModel", "HTTPTransport", "SignedData", "Streams", "TestSupport"]),
        tests(
            of: "Signing",
            ["AppStoreModel", "StrictJSON", "Basics", "Hashing", "SignedData", "CSVFormat", "TestSupport"]
        ),
        tests(
            of: "Normalize",
            [
                "AppStoreModel", "StrictJSON", "LedgerSchema", "Hashing", "SignedData", "Postgres", "Streams",
                "TestSupport",
            ]
        ),
        tests(
            of: "Ledger",
            [
                "AppStoreModel", "LedgerSchema", "Basics", "Hashing", "SignedData", "Postgres", "JobSyntax",
                "Streams", "RateLimit", "ActionKinds", "JobFiles", "Migrations", "Status", "Inbox", "Planning",
                "Actions", "Erasure", "ExchangeRates", "Publish", "TestSupport",
            ]
        ),
        tests(
            of: "Actions",
            [
                "AppStoreModel", "StrictJSON", "LedgerSchema", "Basics", "Postgres", "CSVFormat", "JobSyntax",
                "AppStoreAPI", "Normalize", "ActionKinds", "Crawl", "JobFiles", "Ledger", "Migrations",
                "TestSupport",
            ]
        ),
        tests(
            of: "Planning",
            ["AppStoreModel", "Basics", "Hashing", "SignedData", "JobSyntax", "JobFiles", "TestSupport"]
        ),
        tests(
            of: "Receiver",
            ["AppStoreModel", "StrictJSON", "Postgres", "Inbox", "TestSupport", nioCore, nioEmbedded]
        ),
        tests(
            of: "AppStoreSimulator",
            ["AppStoreModel", "StrictJSON", "Basics", "Hashing", "SignedData", "Streams", "TestSupport"]
        ),
        tests(of: "Report", ["AppStoreModel", "StrictJSON"]),
        tests(of: "Pipeline", ["Basics", "TestSupport"]),
        tests(
            of: "CommandLineTool",
            ["AppStoreModel", "Basics", "Streams", "RateLimit", "Crawl", "Actions", "Pipeline", "TestSupport"]
        ),
        // The code that the fuzzer calls, and a test that calls it with every stored input.
        .target(
            name: "FuzzTargets",
            dependencies: [
                "AppStoreModel", "StrictJSON", "LedgerSchema", "HTTPTransport", "Hashing", "SignedData", "Postgres",
                "CSVFormat", "JobSyntax", "Streams", "RateLimit", "AppStoreAPI", "Normalize", "Crawl", "JobFiles",
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
        // `storeledger` with an action at crash points, and the loop that kills it there; scripts/crash-loop runs both.
        .executableTarget(
            name: "storeledger-failpoints",
            dependencies: ["Basics", "CommandLineTool"],
            path: "Tests/Failpoints",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "crash-loop",
            dependencies: ["LedgerSchema", "Postgres", "TestSupport", argumentParser],
            path: "Tests/CrashLoop",
            swiftSettings: settings
        ),
        // Measures single parts in a release build; scripts/bench runs it.
        .executableTarget(
            name: "ledger-bench",
            dependencies: [
                "AppStoreModel", "StrictJSON", "LedgerSchema", "Basics", "Hashing", "SignedData", "Postgres",
                "Streams", "Signing", "Normalize", "Ledger", "Migrations", "Erasure", "AppStoreSimulator",
                "TestSupport", argumentParser,
            ],
            path: "Tests/Benchmarks",
            swiftSettings: settings
        ),
        // Tests of the commands as users run them. scripts/test builds the executables before. They are no dependencies,
        // because this target, which takes longest to compile, would then be compiled last and alone.
        .testTarget(
            name: "EndToEndTests",
            dependencies: ["AppStoreModel", "Hashing", "SignedData", "Postgres", "Ledger", "Status", "TestSupport"],
            swiftSettings: settings
        ),
    ] + fuzzer
)
