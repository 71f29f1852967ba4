// Descriptions of sessions (SDP) of which only the transport stream is used.
import { SourceFault } from '../fault.ts';
import { SAFE_WORD } from './messages.ts';

export interface Description {
  /** Address that is set up. */
  track: string;
  /** Address that is played and ended. */
  session: string;
}

interface Section {
  media: string;
  control?: string;
  isTransportStream: boolean;
}

/** Payload type of transport streams without a map. */
const MP2T = '33';

/** The addresses of the first transport stream. Throws `SourceFault` for a description without one. */
export function describedBy(sdp: string, base: string): Description {
  const [session, ...media] = sectionsOf(sdp);
  const found = media.find(({ isTransportStream }) => isTransportStream);
  if (!found) throw new SourceFault('not-media', 'the server offers no transport stream');
  const description = { track: resolved(found.control, base), session: resolved(session?.control, base) };
  if (!Object.values(description).every((address) => SAFE_WORD.test(address)))
    throw new SourceFault('refused', 'the description names something that is no address');
  return description;
}

function sectionsOf(sdp: string): Section[] {
  const sections: Section[] = [{ media: '', isTransportStream: false }];
  for (const line of sdp.split(/[\r\n]+/)) {
    const section = sections.at(-1) as Section;
    if (line.startsWith('m=')) sections.push(sectionOf(line));
    else if (line.startsWith('a=control:')) section.control = line.slice('a=control:'.length).trim();
    else if (/^a=rtpmap:\d+ MP2T\//i.test(line)) section.isTransportStream = section.media !== '';
  }
  return sections;
}

function sectionOf(media: string): Section {
  const [, , profile = '', ...types] = media.split(' ');
  return { media, isTransportStream: profile.startsWith('RTP/AVP') && types.includes(MP2T) };
}

/** Servers and clients append the name of a track, other than RFC 2326 says. */
function resolved(control: string | undefined, base: string): string {
  if (control === undefined || control === '' || control === '*') return base;
  if (/^rtsp:\/\//i.test(control)) return control;
  return `${base}${base.endsWith('/') ? '' : '/'}${control}`;
}
