/** The worker thread of `checkPasskey`: one reply to each request. */
import { parentPort } from 'node:worker_threads';
import { verifyAuthenticationResponse, verifyRegistrationResponse } from '@simplewebauthn/server';
import type { CheckReply, CheckRequest, Checks } from './verifier.ts';

const checks: Checks = { verifyAuthenticationResponse, verifyRegistrationResponse };

async function check({ id, name, options }: CheckRequest): Promise<CheckReply> {
  try {
    return { id, result: await checks[name](options as never) };
  } catch (error) {
    return { id, refused: error instanceof Error ? error.message : '' };
  }
}

parentPort?.on('message', (request: CheckRequest) => {
  void check(request).then((reply) => parentPort?.postMessage(reply));
});
