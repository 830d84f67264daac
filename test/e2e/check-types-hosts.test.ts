import t from 'tap';
import { tellStory } from './check-types/story.ts';

t.test('a monitor of each type is up, and down when its server ends', { timeout: 240_000 }, (t) =>
  tellStory(t, 'hosts'),
);
