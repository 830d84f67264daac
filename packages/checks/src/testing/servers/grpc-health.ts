import grpcJs from '@grpc/grpc-js';
import type { Test } from 'tap';
import { healthRequest } from '../../grpc/messages.ts';
import type { Running } from './running.ts';

/** State of a service by its number in the health protocol (1: serving), or the error that the call ends with. */
export type HealthAnswer = (service: string, metadata: grpcJs.Metadata) => number | grpcJs.ServiceError;

/** The server of grpc-js with the health service of its specification. */
export async function startGrpcHealth(
  t: Test,
  answer: HealthAnswer = () => 1,
  credentials = grpcJs.ServerCredentials.createInsecure(),
): Promise<Running> {
  const real = new grpcJs.Server();
  const definition = {
    Check: {
      path: '/grpc.health.v1.Health/Check',
      requestStream: false,
      responseStream: false,
      requestSerialize: ({ service }: { service: string }) => healthRequest(service).subarray(5),
      requestDeserialize: (bytes: Buffer) => ({ service: bytes.subarray(2).toString('utf8') }),
      responseSerialize: (state: number) => Buffer.from(state === 0 ? [] : [8, state]),
      responseDeserialize: (bytes: Buffer) => bytes[1] ?? 0,
    },
  } as const;
  const handler: grpcJs.handleUnaryCall<{ service: string }, number> = ({ request, metadata }, reply) => {
    const given = answer(request.service, metadata);
    if (typeof given === 'number') reply(null, given);
    else reply(given);
  };
  real.addService(definition, { Check: handler });
  const port = await new Promise<number>((resolve, reject) => {
    real.bindAsync('127.0.0.1:0', credentials, (error, bound) => (error === null ? resolve(bound) : reject(error)));
  });
  const stop = () => Promise.resolve(real.forceShutdown());
  t.teardown(stop);
  return { port, url: `grpc://127.0.0.1:${port}`, stop };
}
