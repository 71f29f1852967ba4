import type { MediaServerSpec } from '../schemas/media-server.ts';
import type { TunerDeviceSpec } from '../schemas/tuner-device.ts';

/** The part of a tuner's environment that is neither secret nor specific to the machine. */
export function tunerEnvironment(spec: TunerDeviceSpec, { network }: MediaServerSpec): Record<string, string> {
  const { live } = network.allow;
  return {
    NODE_ENV: 'production',
    FOYER_TUNER_SPEC: JSON.stringify(spec),
    ...(live.length > 0 && { FOYER_TUNER_NETWORKS: JSON.stringify(live) }),
  };
}

/** The references to Secrets, with the variable that receives the value. */
export function urlRefs({ source, guide }: TunerDeviceSpec) {
  const refs = [
    { variable: 'FOYER_TUNER_URL', path: 'spec.source.m3u.urlSecretRef', ref: source.m3u?.urlSecretRef },
    { variable: 'FOYER_TUNER_GUIDE_URL', path: 'spec.guide.xmltv.urlSecretRef', ref: guide?.xmltv?.urlSecretRef },
  ];
  return refs.flatMap(({ ref, ...rest }) => (ref ? [{ ...rest, ref }] : []));
}
