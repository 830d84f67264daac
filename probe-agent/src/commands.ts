import path from 'node:path';
import { sourceAddresses } from '@parallax/checks';
import type { AgentSettings } from '@parallax/settings';
import { createLogger, createShutdown } from '@parallax/telemetry';
import { startAgent } from './agent.ts';
import type { Agent } from './agent.ts';
import type { Output } from './commands/output.ts';
import { identityFacts } from './commands/status.ts';
import { EnrolmentError } from './enrolment/authority.ts';
import { firstRegistration } from './enrolment/first-registration.ts';
import { register } from './enrolment/register.ts';
import { giveBackMemory } from './machine/give-back.ts';
import { machineBootId } from './machine/boot-id.ts';
import { capabilitiesOf, inspectMachine } from './machine/capabilities.ts';
import { machineOptions } from './machine/options.ts';
import { createDiagnosisDesk } from './diagnosis/desk.ts';
import { createAgentMetrics } from './metrics.ts';
import type { AgentObserver } from './metrics.ts';
import type { Logger } from './ports.ts';
import { createChecker, userAgent } from './runner/checker.ts';
import { readIdentity } from './state/identity.ts';
import type { Identity } from './state/identity.ts';
import { lockStateFolder } from './state/lock.ts';
import { wantedWorkers } from './workers/wanted.ts';

/** Registers this machine in its state folder; see `register`. */
export async function runRegister(settings: AgentSettings, output: Output, json: boolean): Promise<void> {
  const identity = await registerWith(settings);
  if (json) output.line(JSON.stringify(identityFacts(identity)));
  else {
    output.line(`registered as probe ${identity.probeId} "${identity.name}" in region "${identity.region}"`);
    if (settings.name !== undefined && settings.name !== identity.name) {
      output.line(`note: the join token was made for the name "${identity.name}"; "${settings.name}" is not used`);
    }
    if (settings.region !== undefined && settings.region !== identity.region) {
      output.line(
        `note: the join token was made for the region "${identity.region}"; "${settings.region}" is not used`,
      );
    }
    output.line(`state folder: ${path.resolve(settings.stateDir)}`);
    output.line(`start it with: probe-agent run --state-dir ${settings.stateDir}`);
  }
}

async function registerWith(settings: AgentSettings, joinToken = settings.joinToken): Promise<Identity> {
  if (settings.controlPlane === undefined) {
    throw new EnrolmentError('where is the control plane? Give its enrolment address: --control-plane host:port');
  }
  if (joinToken === undefined) {
    throw new EnrolmentError(
      'a join token is needed: --join-token TOKEN; make one with "control-plane join-token create --name NAME --region REGION"',
    );
  }
  return register({
    stateDir: settings.stateDir,
    controlPlane: settings.controlPlane,
    joinToken,
    publicAddresses: settings.publicAddress ?? [],
  });
}

/**
 * Runs the agent until it is told to stop. Registers first when a join token is given and the folder has no probe yet, and waits for the
 * token's file and for the control plane to be there. @param readJoinToken reads the token anew at each try
 */
export async function runAgent(
  settings: AgentSettings,
  readJoinToken: () => string | undefined = () => settings.joinToken,
): Promise<void> {
  const logger = createLogger({ name: 'probe-agent', level: settings.logLevel });
  const shutdown = createShutdown({ log: logger });
  let agent: Agent | undefined;
  try {
    const lock = await lockStateFolder(settings.stateDir, () => agent?.status() ?? { pid: process.pid });
    shutdown.onShutdown('state folder', () => lock.release());
    const identity =
      (await readIdentity(settings.stateDir)) ??
      (await firstRegistration({
        readJoinToken,
        register: (joinToken) => registerWith(settings, joinToken),
        logger,
        signal: shutdown.signal,
      }));
    if (identity === undefined) return;
    const metrics = settings.metricsPort === undefined ? undefined : createAgentMetrics(() => agent?.status());
    if (metrics !== undefined && settings.metricsPort !== undefined) {
      const listener = await metrics.listen(settings.metricsPort);
      logger.info({ port: listener.port }, 'metrics are served on loopback');
      shutdown.onShutdown('metrics', () => listener.close());
    }
    giveBackMemory();
    const started = await startWith(settings, identity, logger, metrics?.observer, (failure) => {
      logger.error({ error: failure.message }, 'the agent cannot go on');
      void shutdown.stop('the log failed').finally(() => process.exit(1));
    });
    agent = started;
    shutdown.onShutdown('agent', () => started.stop());
    if (shutdown.signal.aborted) await started.stop();
  } catch (error) {
    await shutdown.stop('the agent could not start');
    throw error;
  }
}

async function startWith(
  settings: AgentSettings,
  identity: Identity,
  logger: Logger,
  observer: AgentObserver | undefined,
  onFatal: (error: Error) => void,
): Promise<Agent> {
  const machine = machineOptions(settings);
  const findings = await inspectMachine(machine);
  for (const { present, name, detail, remedy } of findings) {
    const isUnwanted = name === 'browser' && machine.browser === undefined;
    if (!present && !isUnwanted)
      logger.warn({ capability: name, detail, remedy }, 'this machine lacks something that some checks need');
  }
  const checkerOptions = {
    allowedPrivate: settings.allowedPrivateTargets ?? [],
    sourceAddress: settings.sourceAddress,
    machine,
  };
  const checker = createChecker(checkerOptions);
  const agent = await startAgent({
    stateDir: settings.stateDir,
    identity,
    ...(observer === undefined ? {} : { observer }),
    bootId: machineBootId(),
    capabilities: capabilitiesOf(findings),
    publicAddresses: settings.publicAddress ?? [],
    sourceAddresses: () => sourceAddresses(settings.sourceAddress),
    maxInFlight: settings.maxInFlight,
    canaries: settings.canaries ?? [],
    check: checker.check,
    denyListeners: checker.denyListeners,
    workers: wantedWorkers(settings, checkerOptions),
    diagnosis: createDiagnosisDesk({
      allowedPrivate: settings.allowedPrivateTargets ?? [],
      sourceAddress: settings.sourceAddress,
      userAgent,
    }),
    logger,
    onFatal,
  });
  const { probeId, name, region, sessionAddress } = identity;
  logger.info({ probe_id: probeId, name, region, control_plane: sessionAddress }, 'the probe agent runs');
  return agent;
}
