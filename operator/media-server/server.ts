// A MediaServer as the builders take it: plain data, with a validated spec and all defaults.
import { z } from 'zod';
import type { KubeObject } from '../runtime/kube.ts';
import { MediaServerSpec, NAME_MAX } from '../schemas/media-server.ts';

export interface Server {
  name: string;
  namespace: string;
  uid: string;
  generation: number;
  annotations: Readonly<Record<string, string>>;
  spec: MediaServerSpec;
}

const NAME = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;

export interface Malformed {
  reason: 'NameInvalid' | 'SpecInvalid';
  message: string;
}

/** With the value "paused" it has the effect of spec.suspend, for users who cannot change the spec in a repository. */
const PAUSE = 'foyer.media/reconcile';

/** A suspended server is not reconciled, nor are its libraries and tuners. */
export function isSuspended({ metadata, spec }: KubeObject): boolean {
  const { suspend } = (spec ?? {}) as { suspend?: boolean };
  return suspend === true || metadata.annotations?.[PAUSE] === 'paused';
}

/** The server, or the error in the object: another version of the operator may not know its fields. */
export function serverOf(object: KubeObject): Server | Malformed {
  const { metadata, spec } = object;
  const { name, namespace = '', uid = '', generation = 0, annotations = {} } = metadata;
  if (name.length > NAME_MAX || !NAME.test(name)) {
    const message = `metadata.name must begin with a letter, hold only letters, digits and dashes, and have at most ${NAME_MAX} characters: create it again under such a name`;
    return { reason: 'NameInvalid', message };
  }
  const parsed = MediaServerSpec.safeParse(spec);
  if (!parsed.success) {
    const message = `the spec is not valid for this operator, correct it: ${z.prettifyError(parsed.error)}`;
    return { reason: 'SpecInvalid', message: message.slice(0, 2000) };
  }
  return { name, namespace, uid, generation, annotations, spec: { ...parsed.data, suspend: isSuspended(object) } };
}
