/** Which store of this browser keeps the files of a workspace. */

export function storeOf(shelf: string): string {
  return `deepnb:${shelf}`;
}

/** Whether this browser has one already; if it does not tell, none. */
export async function hasStore(shelf: string): Promise<boolean> {
  try {
    return (await indexedDB.databases()).some(({ name }) => name === storeOf(shelf));
  } catch {
    return false;
  }
}
