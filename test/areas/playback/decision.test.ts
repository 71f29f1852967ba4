import { expect } from 'chai';
import type { CandidateFile, DecisionInput } from '#areas/playback/decision/candidates.ts';
import { decide } from '#areas/playback/decision/decision.ts';
import { builtInProfiles, type Profile } from '#areas/playback/decision/profiles.ts';
import type { Track } from '#areas/playback/decision/tracks.ts';
import { decideAnyhow } from '#areas/playback/decision/warnings.ts';
import { settingTable } from '#platform/settings.ts';

const flags = { default: false, forced: false, hearingImpaired: false };
const h264: Track = {
  id: 'v',
  index: 0,
  kind: 'video',
  codec: 'h264',
  profile: 'High',
  level: 41,
  width: 1920,
  height: 1080,
  frameRate: 24,
  bitDepth: 8,
  bitrate: 8_000_000,
  ...flags,
  default: true,
};
const aac: Track = {
  id: 'a',
  index: 1,
  kind: 'audio',
  codec: 'aac',
  channels: 2,
  sampleRate: 48_000,
  language: 'en',
  bitrate: 128_000,
  ...flags,
  default: true,
};
const words: Track = { ...aac, id: 's', index: 3, kind: 'subtitle', codec: 'subrip', default: false };
const file = (more: Partial<CandidateFile> = {}): CandidateFile => ({
  id: 'f',
  container: 'mp4',
  durationMs: 600_000,
  bitrate: 8_200_000,
  keyframesKnown: true,
  slowStorage: false,
  tracks: [h264, aac],
  ...more,
});
const profile = (name: string, more: Partial<Profile> = {}): Profile => ({
  ...(builtInProfiles[name] as Profile),
  ...more,
});

const input = (more: Partial<DecisionInput> = {}): DecisionInput => ({
  profile: profile('chromium'),
  limits: { remote: false, videoTranscode: true, audioTranscode: true, remuxOnly: false },
  ladder: settingTable['playback.ladder'].schema.parse(undefined),
  tracks: {
    audioLanguages: [],
    preferOriginalAudio: false,
    subtitleLanguages: [],
    subtitleMode: 'off',
    hearingImpaired: 'any',
  },
  dynamicRange: 'off',
  quality: 'original',
  allow: { directPlay: true, directStream: true, transcode: true },
  ...more,
});

function outcome(files: CandidateFile[], more: Partial<DecisionInput> = {}) {
  const made = decide(files, input(more));
  if ('refused' in made) throw new Error(`refused: ${made.refused.join()}`);
  return made;
}

describe('the playback decision', () => {
  it('plays directly what the player can take as it is', () => {
    const made = outcome([file()]);
    expect(made.decision).to.include({ method: 'direct_play', container: 'mp4', bitrate: 8_200_000 });
    expect(made.decision.reasons).to.deep.equal([]);
    expect(made.stream).to.equal(undefined);
  });

  it('copies the video into HLS when only the container stands against it', () => {
    const made = outcome([file({ container: 'matroska' })]);
    expect(made.decision.method).to.equal('direct_stream');
    expect(made.decision.reasons).to.deep.equal(['container-not-supported']);
    expect(made.stream).to.deep.include({ mode: 'copy', container: 'fmp4' });
  });

  it('encodes the sound alone when only the sound stands against it', () => {
    const dts: Track = { ...aac, codec: 'dts', channels: 6 };
    const made = outcome([file({ container: 'matroska', tracks: [h264, dts] })]);
    expect(made.decision.method).to.equal('direct_stream');
    expect(made.decision.reasons).to.have.members(['container-not-supported', 'audio-codec-not-supported']);
    expect(made.decision.audio).to.include({ action: 'encode', codec: 'aac', channels: 6 });
  });

  it('names why the sound is encoded though the player would take it in a file', () => {
    const dts: Track = { ...aac, codec: 'dts', channels: 2 };
    const { direct, ...rest } = input().profile;
    const files = direct.map((rule) => ({
      ...rule,
      audio: [...rule.audio, { codec: 'dts' as const, maxChannels: 8, passthrough: true }],
    }));
    const made = outcome([file({ container: 'matroska', tracks: [h264, dts] })], {
      profile: { ...rest, direct: files },
    });
    expect(made.decision.method).to.equal('direct_stream');
    expect(made.decision.reasons).to.have.members(['container-not-supported', 'audio-codec-not-supported']);
  });

  it('evens out sound that is encoded, as the preferences require, and no other', () => {
    const dts: Track = { ...aac, codec: 'dts' };
    const ranges = (track: Track, dynamicRange: 'off' | 'night') =>
      outcome([file({ container: 'matroska', tracks: [h264, track] })], { dynamicRange }).stream?.audio.map(
        (one) => one.dynamicRange,
      );
    expect(ranges(dts, 'night')).to.deep.equal(['night']);
    expect(ranges(dts, 'off')).to.deep.equal([undefined]);
    expect(ranges(aac, 'night')).to.deep.equal([undefined]);
  });

  it('names every check that failed, not only the first', () => {
    const odd: Track = { ...h264, codec: 'hevc', bitDepth: 10, hdr: 'hdr10' };
    const wide = profile('chromium', { maxHeight: 720, maxBitrate: 4_000_000 });
    const made = outcome([file({ tracks: [{ ...h264, level: 62, interlaced: true, bitDepth: 10 }, aac] })], {
      profile: wide,
    });
    expect(made.decision.reasons).to.include.members([
      'video-level-not-supported',
      'video-bit-depth-not-supported',
      'video-interlaced-not-supported',
      'video-resolution-not-supported',
      'bitrate-over-client-limit',
    ]);
    expect(made.decision.video).to.include({ action: 'encode', deinterlaced: true, height: 720 });
    const hdr = outcome([file({ tracks: [odd, aac] })]);
    expect(hdr.decision.reasons).to.include('video-codec-not-supported');
    expect(hdr.decision.video).to.include({ toneMapped: true });
  });

  it('encodes when the keyframes are not known yet, and reports so', () => {
    const made = outcome([file({ container: 'matroska', keyframesKnown: false })]);
    expect(made.decision.method).to.equal('transcode');
    expect(made.decision.reasons).to.include('keyframes-unknown');
  });

  it('keeps the aspect, even sides, and never enlarges', () => {
    const scope: Track = { ...h264, width: 1920, height: 802, codec: 'vc1' };
    const made = outcome([file({ tracks: [scope, aac] })], { quality: '720p-3m' });
    expect(made.decision.video).to.include({ width: 1280, height: 534 });
    const small: Track = { ...h264, width: 320, height: 180, codec: 'vc1' };
    expect(outcome([file({ tracks: [small, aac] })]).decision.video).to.include({ width: 320, height: 180 });
  });

  it('offers up to four variants for auto, the best first and one a height', () => {
    const made = outcome([file({ tracks: [{ ...h264, codec: 'vc1' }, aac] })], { quality: 'auto' });
    expect(made.stream?.video?.map((one) => one.height)).to.deep.equal([1080, 720, 480, 360]);
  });

  it('offers no quality that the source itself would answer', () => {
    const offered = (bitrate: number) => outcome([file({ bitrate })]).decision.alternatives.map((one) => one.quality);
    expect(offered(8_200_000)).to.deep.equal(['original', '1080p-4m', '720p-3m', '480p-1m5', '360p-0m8']);
    expect(offered(1_000_000)).to.deep.equal(['original', '720p-3m', '480p-1m5', '360p-0m8']);
  });

  it('switches to a stream for another audio track unless the player can switch', () => {
    const french: Track = { ...aac, id: 'fr', index: 2, language: 'fr', default: false };
    const tracks = { ...input().tracks, audioStreamId: 'fr' };
    const made = outcome([file({ tracks: [h264, aac, french] })], { tracks });
    expect(made.decision.reasons).to.deep.equal(['audio-track-switch']);
    expect(made.stream?.audio.map((one) => [one.streamId, one.default])).to.deep.equal([
      ['fr', true],
      ['a', false],
    ]);
    expect(
      outcome([file({ tracks: [h264, aac, french] })], { tracks, profile: profile('safari') }).decision.method,
    ).to.equal('direct_play');
  });

  it('burns pictures in only for a player that cannot draw them', () => {
    const pgs: Track = { ...aac, id: 's', index: 3, kind: 'subtitle', codec: 'pgs', default: false };
    const tracks = { ...input().tracks, subtitleStreamId: 's' };
    const made = outcome([file({ tracks: [h264, aac, pgs] })], { tracks });
    expect(made.decision).to.deep.include({ method: 'transcode', subtitle: { streamId: 's', delivery: 'burn-in' } });
    expect(made.stream?.video?.[0]?.burnIn).to.deep.equal({
      streamId: 's',
      streamIndex: 3,
      number: 0,
      kind: 'picture',
    });
    const native = outcome([file({ tracks: [h264, aac, pgs] })], { tracks, profile: profile('native') });
    expect(native.decision).to.deep.include({
      method: 'direct_play',
      subtitle: { streamId: 's', delivery: 'pictures' },
    });
    const external = {
      tracks,
      profile: profile('native'),
      allow: { directPlay: false, directStream: true, transcode: true },
    };
    const streamed = outcome([file({ tracks: [h264, aac, pgs] })], external);
    expect(streamed.decision.subtitle, 'also with a stream').to.include({ delivery: 'pictures' });
    for (const other of [{ codec: 'dvb_subtitle' }, { externalPath: 'Film.sup' }]) {
      const track = { ...pgs, ...other };
      const unread = outcome([file({ tracks: [h264, aac, track] })], { tracks, profile: profile('native') });
      expect(unread.decision.subtitle, JSON.stringify(other)).to.include({ delivery: 'burn-in' });
    }
  });

  it('chooses subtitles by the language of the sound', () => {
    const en: Track = { ...aac, id: 's', index: 3, kind: 'subtitle', codec: 'subrip', language: 'en', default: false };
    const preference = {
      ...input().tracks,
      audioLanguages: ['en'],
      subtitleLanguages: ['en'],
      subtitleMode: 'foreign-audio' as const,
    };
    expect(outcome([file({ tracks: [h264, aac, en] })], { tracks: preference }).subtitle).to.equal(undefined);
    const japanese = { ...aac, language: 'ja' };
    expect(outcome([file({ tracks: [h264, japanese, en] })], { tracks: preference }).subtitle?.track.id).to.equal('s');
  });

  it('takes the sound that the film was made in where that is preferred and known', () => {
    const [en, fr, ja] = ['en', 'fr', 'ja'].map((language, i) => ({
      ...aac,
      id: `${language}`,
      index: i + 1,
      language,
      default: i === 0,
    })) as [Track, Track, Track];
    const heard = (tracks: Track[], more: Partial<DecisionInput['tracks']>) =>
      outcome([file({ tracks: [h264, ...tracks] })], {
        profile: profile('chromium', { switchesAudio: true }),
        tracks: { ...input().tracks, audioLanguages: ['fr'], ...more },
      }).decision.audio?.streamId;
    const prefers = { preferOriginalAudio: true };
    expect(heard([en, fr, ja], { originalLanguage: 'ja' })).to.equal('fr');
    expect(heard([en, fr, ja], { ...prefers, originalLanguage: 'ja' })).to.equal('ja');
    expect(heard([en, fr, { ...ja, original: true }], prefers)).to.equal('ja');
    expect(heard([{ ...en, original: true }, fr, ja], { ...prefers, originalLanguage: 'ja' })).to.equal('en');
    expect(heard([en, fr, ja], { ...prefers, originalLanguage: 'ko' })).to.equal('fr');
    expect(heard([en, fr, ja], prefers)).to.equal('fr');
  });

  it('warns of preferences of the viewer that it could not keep', () => {
    const warned = (tracks: Partial<DecisionInput['tracks']>, more: Partial<DecisionInput> = {}) =>
      decideAnyhow([file({ tracks: [h264, aac, { ...words, language: 'en' }] })], {
        ...input(more),
        tracks: { ...input().tracks, ...tracks },
      }).warnings;
    expect(warned({})).to.deep.equal([]);
    expect(warned({ audioLanguages: ['en'] })).to.deep.equal([]);
    expect(warned({ audioLanguages: ['fr', 'de'] })).to.deep.equal(['audio-fallback']);
    expect(warned({ audioLanguages: ['fr'], last: { audioLanguage: 'en' } })).to.deep.equal([]);
    expect(warned({ audioLanguages: ['fr'], audioStreamId: 'a' })).to.deep.equal([]);
    expect(warned({ subtitleMode: 'always', subtitleLanguages: ['en'] })).to.deep.equal([]);
    expect(warned({ subtitleMode: 'always', subtitleLanguages: ['sv'] })).to.deep.equal(['subtitle-unavailable']);
    expect(warned({ subtitleMode: 'always', subtitleLanguages: ['sv'], subtitleStreamId: null })).to.deep.equal([]);
    const slow = decideAnyhow([file({ slowStorage: true })], input());
    expect(slow.warnings).to.deep.equal(['storage-slow']);
  });

  it('plays without a subtitle that the request did not name rather than not at all', () => {
    const pgs: Track = { ...words, id: 'p', codec: 'pgs', language: 'en' };
    const strict = { directPlay: true, directStream: true, transcode: false };
    const decided = (subtitleStreamId?: string) =>
      decideAnyhow([file({ tracks: [h264, aac, pgs] })], {
        ...input({ allow: strict }),
        tracks: { ...input().tracks, subtitleMode: 'always', subtitleLanguages: ['en'], subtitleStreamId },
      });
    const { outcome: made, warnings } = decided();
    expect(warnings).to.deep.equal(['subtitle-unavailable']);
    expect('decision' in made && made.decision)
      .to.include({ method: 'direct_play' })
      .and.not.have.property('subtitle');
    expect('refused' in decided('p').outcome).to.equal(true);
  });

  it('refuses with the reasons when only a transcode would do and it is not allowed', () => {
    const limits = { ...input().limits, videoTranscode: false };
    const made = decide([file({ tracks: [{ ...h264, codec: 'vc1' }, aac] })], input({ limits }));
    expect(made).to.deep.equal({ refused: ['video-codec-not-supported'] });
  });

  it('reports how the source would be sent, whatever quality the request names', () => {
    const ways = (more: Partial<CandidateFile>, wanted: Partial<DecisionInput> = {}) => {
      const [source] = outcome([file(more)], wanted).decision.alternatives;
      return [source?.quality, source?.method];
    };
    const lower = { quality: '360p-0m8' };
    expect([ways({}), ways({}, lower)]).to.deep.equal([
      ['original', 'direct_play'],
      ['original', 'direct_play'],
    ]);
    const copied = { container: 'matroska' };
    expect([ways(copied), ways(copied, lower)]).to.deep.equal([
      ['original', 'direct_stream'],
      ['original', 'direct_stream'],
    ]);
    expect(ways({ tracks: [{ ...h264, codec: 'vc1' }, aac] }, lower)).to.deep.equal(['original', 'transcode']);
  });

  it('plays a picture that stands upright where it fits turned', () => {
    const upright = file({ tracks: [{ ...h264, width: 1080, height: 1920 }, aac] });
    const bounded = { profile: profile('chromium', { maxWidth: 1920, maxHeight: 1080 }) };
    expect(outcome([upright], bounded).decision.method).to.equal('direct_play');
    const narrow = { profile: profile('chromium', { maxWidth: 1280, maxHeight: 720 }) };
    expect(outcome([upright], narrow).decision.reasons).to.include('video-resolution-not-supported');
  });

  it('encodes no sound for accounts without permission, in no rendition and in no segment that does not carry it', () => {
    const limits = { ...input().limits, audioTranscode: false };
    const dts: Track = { ...aac, id: 'd', index: 2, codec: 'dts', default: false };
    const external = outcome([file({ container: 'matroska', tracks: [h264, aac, dts] })], { limits });
    expect(external.stream?.audio.map(({ streamId }) => streamId)).to.deep.equal([aac.id]);
    const both = outcome([file({ container: 'matroska', tracks: [h264, aac, dts] })]);
    expect(both.stream?.audio).to.have.length(2);
    const encoded = [
      { ...h264, codec: 'vc1' },
      { ...dts, default: true },
    ];
    expect(decide([file({ tracks: encoded })], input({ limits }))).to.deep.equal({
      refused: ['video-codec-not-supported', 'audio-codec-not-supported'],
    });
    const chromium = profile('chromium');
    const hls = chromium.hls && { ...chromium.hls, segments: ['ts' as const] };
    const flac = [h264, { ...aac, codec: 'flac' }];
    const uncarried = decide(
      [file({ container: 'matroska', tracks: flac })],
      input({ limits, profile: { ...chromium, hls } }),
    );
    expect(uncarried).to.deep.equal({ refused: ['container-not-supported', 'audio-codec-not-supported'] });
  });

  it('takes the file that needs least work at the highest quality within the limits', () => {
    const uhd = file({
      id: 'uhd',
      bitrate: 60_000_000,
      tracks: [{ ...h264, codec: 'hevc', width: 3840, height: 2160 }, aac],
    });
    const sd = file({ id: 'sd', bitrate: 1_000_000, tracks: [{ ...h264, width: 640, height: 360 }, aac] });
    expect(outcome([uhd, sd, file()]).file.id).to.equal('f');
    expect(outcome([uhd, sd, file()], { maxBitrate: 2_000_000 }).file.id).to.equal('sd');
  });

  it('encodes a picture on its side where the container does not state its rotation', () => {
    const turned = file({ container: 'matroska', tracks: [{ ...h264, rotation: 90 }, aac] });
    const by = (segments: ('fmp4' | 'ts')[]) => {
      const { hls } = profile('chromium');
      return outcome([turned], { profile: profile('chromium', { hls: hls && { ...hls, segments } }) }).decision;
    };
    expect(by(['fmp4'])).to.include({ method: 'direct_stream' });
    expect(by(['ts'])).to.include({ method: 'transcode' });
    expect(by(['ts']).video).to.include({ width: 1080, height: 1920 });
  });

  it('leaves out subtitles that are neither text nor pictures', () => {
    const captions: Track = { ...words, id: 'c', index: 4, codec: 'arib_caption' };
    const [wanted, other] = ['c', 's'].map((subtitleStreamId) =>
      outcome([file({ container: 'matroska', tracks: [h264, aac, words, captions] })], {
        tracks: { ...input().tracks, subtitleStreamId },
      }),
    );
    expect(wanted?.decision.subtitle).to.equal(undefined);
    expect(other?.decision.subtitle).to.deep.equal({ streamId: 's', delivery: 'hls' });
    for (const one of [wanted, other])
      expect(one?.stream?.subtitles.map(({ streamId }) => streamId)).to.deep.equal(['s']);
  });
});
