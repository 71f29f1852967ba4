import { expect } from 'chai';
import { videoFaults } from '#areas/playback/decision/support.ts';
import { fitsProfiles } from '#areas/playback/media-words.ts';
import { ClientProfile } from '#areas/playback/playback.schemas.ts';

describe('the words of a client', () => {
  const parsed = (...[container, codec, profile, audio]: [string, string, string, string]) => {
    const rule = {
      containers: [container],
      video: [{ codec, profiles: [profile] }],
      audio: [{ codec: audio, maxChannels: 2 }],
    };
    const made = ClientProfile.safeParse({ direct: [rule] });
    const [one] = made.data?.direct ?? [];
    return made.success
      ? [one?.containers[0], one?.video[0]?.codec, one?.video[0]?.profiles?.[0], one?.audio[0]?.codec]
      : made.error.issues.map(({ path }) => path.join('.'));
  };

  it('may be those that people use for the same', () => {
    expect(parsed('mkv', 'h265', 'main10', 'ec-3')).to.deep.equal(['matroska', 'hevc', 'Main 10', 'eac3']);
    expect(parsed('ts', 'avc1', 'constrained baseline', 'mp4a')).to.deep.equal([
      ...['mpegts', 'h264', 'Constrained Baseline', 'aac'],
    ]);
    expect(parsed('mp4', 'av1', 'Main', 'opus')).to.deep.equal(['mp4', 'av1', 'Main', 'opus']);
  });

  it('are a closed list: others are named as wrong', () => {
    expect(parsed('mkw', 'h266', 'baselined', 'mp5')).to.deep.equal([
      'direct.0.containers.0',
      'direct.0.video.0.codec',
      'direct.0.video.0.profiles.0',
      'direct.0.audio.0.codec',
    ]);
    expect(parsed('constructor', 'h264', 'toString', 'aac')).to.have.length(2);
  });

  it('name a profile with all that its decoders play', () => {
    for (const named of ['Baseline', 'Main', 'High', 'High 10', 'Extended'])
      expect(fitsProfiles('h264', 'Constrained Baseline', [named]), named).to.equal(true);
    expect(fitsProfiles('h264', 'Main', ['High'])).to.equal(true);
    expect(fitsProfiles('hevc', 'Main', ['Main 10'])).to.equal(true);
    expect(fitsProfiles('av1', 'Main', ['High'])).to.equal(true);
  });

  it('include no more than the standards say', () => {
    expect(fitsProfiles('h264', 'Baseline', ['Main', 'High'])).to.equal(false); // slices in any order
    expect(fitsProfiles('h264', 'High', ['Main', 'Baseline'])).to.equal(false);
    expect(fitsProfiles('hevc', 'Main 10', ['Main'])).to.equal(false);
    expect(fitsProfiles('vp9', 'Profile 0', ['Profile 2'])).to.equal(false);
    const stream = { codec: 'h264', profile: 'Constrained Baseline', level: 31 } as never;
    const main = { codec: 'h264', profiles: ['Main'], maxBitDepth: 8, hdr: [], interlaced: false } as never;
    expect(videoFaults(stream, [main], {})).to.deep.equal([]);
  });
});
