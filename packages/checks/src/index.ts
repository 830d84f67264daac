export * from './check.ts';
export * from './outcome.ts';
export {
  type AddressPolicy,
  type AddressPolicyOptions,
  createAddressPolicy,
  type Denial,
  everyAddress,
  type Listener,
  type Purpose,
} from './net/address-policy.ts';
export {
  createResolver,
  type Resolution,
  type ResolveOptions,
  type Resolver,
  type ResolverOptions,
} from './net/resolve.ts';
export { dial, type Endpoint, locate } from './net/dial.ts';
export { type Failure, withThreshold } from './net/failure.ts';
export { parseHost, parseHostPort } from './net/host.ts';
export { createLocality, isOwnAddress } from './net/this-machine.ts';
export { sourceAddresses } from './net/source-addresses.ts';
export { openTls } from './net/tls.ts';
export { dependsOnUplink, systemUplinkParts, Uplink, type UplinkOptions, type UplinkParts } from './net/uplink.ts';
export {
  type AnyCheckType,
  checkTypeOf,
  checkTypes,
  isProtocol,
  type Protocol,
  protocols,
  secretFieldsOf,
  settingsSchema,
} from './registry.ts';
export { movedCredentials, originOf as stepOrigin } from './api/destinations.ts';
export { failedStep, readLines as readStepLines, type StepLine } from './api/lines.ts';
export { apiSettings, type Step } from './api/settings.ts';
export { readTold } from './api/told.ts';
export { type AssertionNode, leavesOf } from './assertions/settings.ts';
export { type CommonSettings, commonShape } from './common-settings.ts';
export { readChain } from './chain/read-chain.ts';
export { maxChainBytes, readSentChain, type SentChain } from './chain/sent-chain.ts';
export { chainWayOf } from './chain/way.ts';
export { defaultAddressLists, defaultDomainLists } from './dnsbl/lists.ts';
export { diagnose } from './diagnosis/diagnose.ts';
export type { Diagnosis } from './diagnosis/diagnosis.ts';
export { maxDiagnosisBytes, readDiagnosis } from './diagnosis/diagnosis-schema.ts';
export { difference, type Difference } from './diagnosis/difference.ts';
export { tellDifferences } from './diagnosis/tell-differences.ts';
export { patternProblem, occurs, searchable } from './http/keyword.ts';
export { type JsonPath, parsePath, valueAt } from './assertions/json-path.ts';
export { runCheck } from './run.ts';
export { maxEvidenceCharacters, type OutcomeColumns, outcomeColumns } from './result/columns.ts';
export { nothingNew, Novelty } from './result/novelty.ts';
export { freshSeconds, type Verdict, verdictOf } from './result/verdict.ts';
