"""A test that is alone runs beside no other, whichever process the others are in."""

import threading
import time

from tests.sharing import Machine


def test_who_is_alone_meets_nobody_and_the_others_meet(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    running, met, guard = [], {True: 0, False: 0}, threading.Lock()

    def work(number):
        machine = Machine("run")  # files of its own, as in another process
        for turn in range(12):
            alone = turn % 4 == number
            with machine.used(alone):
                with guard:
                    running.append(alone)
                time.sleep(0.005)
                with guard:
                    met[any(running)] = max(met[any(running)], len(running))
                    running.remove(alone)
        machine.close()

    threads = [threading.Thread(target=work, args=[number]) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert met[True] == 1 and met[False] > 1
    assert not list(tmp_path.iterdir())
