/** The conversation, and the input under it. */

import { useStore } from "../app";
import { Composer } from "./Composer";
import { Empty } from "./Empty";
import { Log } from "./Log";

export function Chat() {
  const isEmpty = useStore((store) => store.turns.length === 0);
  return (
    <>
      {isEmpty ? <Empty /> : <Log />}
      <Composer />
    </>
  );
}
